"""Messages between the runtime and the kernel host, sent over a socket pair. This module does no I/O.

Each message is a frame (`hawse_runtime.core.framing`). Its body is `kind u8 | …`:

    kind 0   a control message: JSON with a `type`
    kind 1   `run u32 | bytes`: a run's stdout
    kind 2   `run u32 | bytes`: a run's stderr
    kind 3   `run u32 | bytes`: a run's large values

The host runs alongside user code, which may take control of it. The runtime therefore validates all messages.
"""

import os
import re
import struct
import sys
from typing import Any, Literal

import msgspec
from msgspec import Raw

from hawse_runtime.core.framing import ProtocolError, frame

OUTPUT_HEADER = struct.Struct(">BI")
CONTROL, STDOUT, STDERR, BUNDLES = range(4)
CHUNK = 64 << 10  # maximum number of output bytes per message; other kernels can send between messages
OWN_PYTHON = (
    sys.executable,
    "-I",
    "-m",
)  # the command for running a module in this interpreter; the module name is appended
MESSAGE_LIMIT = 2 << 20  # maximum size of a message, in bytes; source code has at most 1 MiB, an event at most 512 KiB


# A JSON escape sequence. The group matches half a surrogate pair without the other half, which is not valid Unicode.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


class HostMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower):
    """Base class for control messages."""


# ---- from the runtime


class Start(HostMessage, frozen=True, kw_only=True):
    """Start a kernel. The reply is a `Reply` with a `Kernel` or an error.

    `cwd` and `env` are bytes, not necessarily UTF-8. Each character stands for one byte (`as_text`).

    Attributes:
        request: The request's number.
        executor: The number that identifies the executor in later messages.
        kernel: The kernel's name; None means the default kernel for `language`.
        language: The language's name; None means the kernel's language.
        cwd: The directory to start in.
        env: The complete environment.
        timeout: How many seconds to wait for the kernel to respond.
    """

    request: int
    executor: int
    kernel: str | None = None
    language: str | None = None
    cwd: str
    env: dict[str, str]
    timeout: float


class Execute(HostMessage, frozen=True, kw_only=True):
    """Run code. The host sends output, `RunEvent`s and finally `RunDone`, or `Exited` if the kernel exits first."""

    executor: int
    run: int
    source: str
    stdin: bool = False
    store_history: bool = True
    silent: bool = False


class Interrupt(HostMessage, frozen=True, kw_only=True):
    """Interrupt a run if it is in progress."""

    executor: int
    run: int


class AnswerInput(HostMessage, frozen=True, kw_only=True):
    """Send a line of input to a run that has requested it."""

    executor: int
    run: int
    value: str


class Ask(HostMessage, frozen=True, kw_only=True):
    """Send a request on Jupyter's shell channel. The host sends a `Reply` that contains the kernel's reply."""

    request: int
    executor: int
    method: Literal["complete_request", "inspect_request"]
    content: dict[str, Any]


class ListLanguages(HostMessage, frozen=True, kw_only=True):
    """List the kernels. The host sends a `Reply` with a list of `hawse.api.code.CodeLanguage`."""

    request: int


class Pause(HostMessage, frozen=True, kw_only=True):
    """Pause an executor's output until `Resume` is sent."""

    executor: int


class Resume(HostMessage, frozen=True, kw_only=True):
    """Resume an executor's output."""

    executor: int


class Stop(HostMessage, frozen=True, kw_only=True):
    """Kill a kernel and forget it. There is no reply; the runtime ends any remaining processes."""

    executor: int


# ---- from the host


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel ready to run code.

    Attributes:
        kernel: The kernel's name.
        language: Its language, as in `code.create`.
        pid: Its process id in the host's PID namespace.
        memory: Its resident memory in bytes.
    """

    kernel: str
    language: str
    pid: int
    memory: int


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request failed: an error code from `hawse.wire.errors` and a message."""

    code: Literal["language_unavailable", "spawn_failed", "exited"]
    message: str


class Reply(HostMessage, frozen=True, kw_only=True):
    """The reply to a request."""

    request: int
    value: Raw = Raw(b"null")
    failure: Failure | None = None


class RunEvent(HostMessage, frozen=True, kw_only=True):
    """An event from a run.

    Attributes:
        run: The run's number.
        name: The event's name in `code.run`.
        value: The event's value without `offset`, as a JSON object.
    """

    run: int
    name: Literal["value", "display", "update", "clear", "raised", "input"]
    value: Raw


class RunDone(HostMessage, frozen=True, kw_only=True):
    """Sent once a run has ended and all its output has been sent.

    Attributes:
        run: The run's number.
        ok: Whether the run succeeded.
        execution_count: The kernel's execution count for the run.
        error: The name, message and traceback lines of the error that ended the run.
        seconds: The run's duration.
    """

    run: int
    ok: bool
    execution_count: int | None = None
    error: tuple[str, str, list[str]] | None = None
    seconds: float = 0.0


class Exited(HostMessage, frozen=True, kw_only=True):
    """Sent when a kernel has exited. No more output follows. Either `code` or `signal` (a number) is set."""

    executor: int
    code: int | None = None
    signal: int | None = None


FromRuntime = Start | Execute | Interrupt | AnswerInput | Ask | ListLanguages | Pause | Resume | Stop
FromHost = Reply | RunEvent | RunDone | Exited

from_runtime = msgspec.json.Decoder(FromRuntime)
from_host = msgspec.json.Decoder(FromHost)
_encoder = msgspec.json.Encoder()


def as_text(name: str) -> str:
    """Return a path or variable from `os` as a string with one character per byte, which is valid in JSON."""
    return os.fsencode(name).decode("latin-1")


def from_text(text: str) -> str:
    """Undo `as_text`."""
    return os.fsdecode(text.encode("latin-1"))


def without_lone_surrogates(data: bytes) -> bytes:
    """Return JSON with each lone surrogate replaced by U+FFFD.

    Kernels send lone surrogates for half an emoji. JSON decoders reject them, including the ones that clients use.
    """
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _ESCAPE.sub(lambda found: b"\\ufffd" if found[1] else found[0], data)


def encode(message: HostMessage) -> bytes:
    """Return a control message as a frame."""
    return frame(b"\0", _encoder.encode(message))


def encode_output(kind: int, run: int, data: bytes | memoryview) -> bytes:
    """Return output as a frame. `data` has at most CHUNK bytes."""
    return frame(OUTPUT_HEADER.pack(kind, run), data)


def split(body: bytes) -> tuple[int, int, bytes]:
    """Return a message's kind, run number (0 for control messages) and content.

    Raises:
        ProtocolError: The kind is unknown or the message is too short.
    """
    if body[0] == CONTROL:
        return CONTROL, 0, body[1:]
    if body[0] > BUNDLES or len(body) < OUTPUT_HEADER.size:
        raise ProtocolError(f"invalid message of kind {body[0]} with {len(body)} bytes")
    kind, run = OUTPUT_HEADER.unpack_from(body)
    return kind, run, body[OUTPUT_HEADER.size :]
