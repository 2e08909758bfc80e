"""The messages between the runtime and the kernel host, on a socket pair. Does no I/O.

Each message is a frame (`hawse_runtime.core.framing`), whose body is `kind u8 | …`:

    kind 0   a control message: JSON with a `type`
    kind 1   `run u32 | bytes`: stdout of a run
    kind 2   `run u32 | bytes`: stderr
    kind 3   `run u32 | bytes`: the bytes of large values

The host runs beside user code, which may control it. The runtime therefore checks everything it receives.
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
CHUNK = 64 << 10  # bytes of output in one message, between which other kernels have their turn
OWN_PYTHON = (
    sys.executable,
    "-I",
    "-m",
)  # the command that runs a module of this interpreter; the module's name follows
MESSAGE_LIMIT = 2 << 20  # bytes of one message: source code has up to 1 MiB, and an event up to 512 KiB


# An escape sequence in JSON. The group is half of a surrogate pair without the other half, which is invalid Unicode.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


class HostMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower):
    """The base of all control messages."""


# ---- from the runtime


class Start(HostMessage, frozen=True, kw_only=True):
    """Start a kernel. Answered by `Reply` with a `Kernel`, or with an error.

    `cwd` and `env` are bytes, which need not be UTF-8: each character is one byte (`as_text`).

    Attributes:
        request: Number of the request.
        executor: Number of the executor in later messages.
        kernel: Name of the kernel; None: the usual kernel of `language`.
        language: Name of the language; None: the kernel's language.
        cwd: Directory to start in.
        env: Whole environment.
        timeout: Seconds to wait for the kernel's answer.
    """

    request: int
    executor: int
    kernel: str | None = None
    language: str | None = None
    cwd: str
    env: dict[str, str]
    timeout: float


class Execute(HostMessage, frozen=True, kw_only=True):
    """Run code. Answered by output, `RunEvent` and, at the end, `RunDone`, unless the kernel ends (`Exited`)."""

    executor: int
    run: int
    source: str
    stdin: bool = False
    store_history: bool = True
    silent: bool = False


class Interrupt(HostMessage, frozen=True, kw_only=True):
    """Interrupt a run, if it is still in progress."""

    executor: int
    run: int


class AnswerInput(HostMessage, frozen=True, kw_only=True):
    """Send a line of input to a run that asked for it."""

    executor: int
    run: int
    value: str


class Ask(HostMessage, frozen=True, kw_only=True):
    """Send a request of Jupyter's shell channel. Answered by `Reply` with the content of the kernel's reply."""

    request: int
    executor: int
    method: Literal["complete_request", "inspect_request"]
    content: dict[str, Any]


class ListLanguages(HostMessage, frozen=True, kw_only=True):
    """List the kernels. Answered by `Reply` with a list of `hawse.api.code.CodeLanguage`."""

    request: int


class Pause(HostMessage, frozen=True, kw_only=True):
    """Pause the output of an executor until `Resume`."""

    executor: int


class Resume(HostMessage, frozen=True, kw_only=True):
    """Resume the output of an executor."""

    executor: int


class Stop(HostMessage, frozen=True, kw_only=True):
    """Kill a kernel and forget it. There is no answer; the runtime itself looks for remaining processes."""

    executor: int


# ---- from the host


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel that is ready.

    Attributes:
        kernel: Its name.
        language: The name of its language for `code.create`.
        pid: Its process id, in the host's namespace.
        memory: Its resident memory in bytes.
    """

    kernel: str
    language: str
    pid: int
    memory: int


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request failed: a code of `hawse.wire.errors`, and a message."""

    code: Literal["language_unavailable", "spawn_failed", "exited"]
    message: str


class Reply(HostMessage, frozen=True, kw_only=True):
    """The answer to a request."""

    request: int
    value: Raw = Raw(b"null")
    failure: Failure | None = None


class RunEvent(HostMessage, frozen=True, kw_only=True):
    """An event of a run.

    Attributes:
        run: Number of the run.
        name: Name of the event of `code.run`.
        value: Its value without `offset`: a JSON object.
    """

    run: int
    name: Literal["value", "display", "update", "clear", "raised", "input"]
    value: Raw


class RunDone(HostMessage, frozen=True, kw_only=True):
    """A run has ended, and its output has been sent.

    Attributes:
        run: Number of the run.
        ok: Whether it succeeded.
        execution_count: Number of the run in its kernel.
        error: The name, the message and the lines of the traceback of its error.
        seconds: How long it took.
    """

    run: int
    ok: bool
    execution_count: int | None = None
    error: tuple[str, str, list[str]] | None = None
    seconds: float = 0.0


class Exited(HostMessage, frozen=True, kw_only=True):
    """A kernel has ended, and no output of it follows. One of `code` and `signal` (a number) is set."""

    executor: int
    code: int | None = None
    signal: int | None = None


FromRuntime = Start | Execute | Interrupt | AnswerInput | Ask | ListLanguages | Pause | Resume | Stop
FromHost = Reply | RunEvent | RunDone | Exited

from_runtime = msgspec.json.Decoder(FromRuntime)
from_host = msgspec.json.Decoder(FromHost)
_encoder = msgspec.json.Encoder()


def as_text(name: str) -> str:
    """Return a path or a variable from `os` with one character for each byte, which is valid JSON."""
    return os.fsencode(name).decode("latin-1")


def from_text(text: str) -> str:
    """Reverse `as_text`."""
    return os.fsdecode(text.encode("latin-1"))


def without_lone_surrogates(data: bytes) -> bytes:
    """Return JSON with U+FFFD in place of each lone surrogate.

    Kernels send lone surrogates for half an emoji. Decoders reject them, including the clients'.
    """
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _ESCAPE.sub(lambda found: b"\\ufffd" if found[1] else found[0], data)


def encode(message: HostMessage) -> bytes:
    """Return a control message as a frame."""
    return frame(b"\0", _encoder.encode(message))


def encode_output(kind: int, run: int, data: bytes | memoryview) -> bytes:
    """Return output as a frame; `data` has at most CHUNK bytes."""
    return frame(OUTPUT_HEADER.pack(kind, run), data)


def split(body: bytes) -> tuple[int, int, bytes]:
    """Return the kind, the run (0 for a control message) and the content of a message.

    Raises:
        ProtocolError: The kind is unknown or the message too short.
    """
    if body[0] == CONTROL:
        return CONTROL, 0, body[1:]
    if body[0] > BUNDLES or len(body) < OUTPUT_HEADER.size:
        raise ProtocolError(f"invalid message of kind {body[0]} with {len(body)} bytes")
    kind, run = OUTPUT_HEADER.unpack_from(body)
    return kind, run, body[OUTPUT_HEADER.size :]
