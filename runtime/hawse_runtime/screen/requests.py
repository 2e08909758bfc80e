"""The messages between a runtime and its screen process, on a socket pair. Does no I/O.

Each message is a frame (`hawse_runtime.core.framing`) of MessagePack. The process sends an `Answer` when it is ready,
then one for each request. It completes requests one at a time and in order, so they need no numbers. If it exits after
it was ready, it was working on the first request without an answer.

The process reads hostile bytes, so the runtime checks what it receives from it.
"""

from typing import Any

import msgspec

from hawse_runtime.core.framing import ProtocolError, frame

ANSWER_LIMIT = 64 << 20  # bytes of one answer: the widest screens with all their scrollback take 20 MB
SCROLLBACK_LINES = 6000  # rows that are kept at most; libghostty drops whole pages, so it may keep up to 600 fewer
PIECE = 64 << 10  # bytes of output for which a request is worth its cost
PIECE_LIMIT = 256 << 10  # bytes of output in one request: the process takes 2 to 4 ms for them, and others wait so long


class Request(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The base of all requests. `screen` is the number that the runtime has given to it."""

    screen: int


class Open(Request, frozen=True):
    """Create a screen that has read `data`, for which it gives no answers to queries."""

    cols: int
    rows: int
    data: bytes = b""


class Feed(Request, frozen=True):
    """Read output. With `answers`, the answers to its queries are in `Answer.replies`."""

    data: bytes
    answers: bool = False


class Resize(Request, frozen=True):
    """Change the size. The answer is as that of `Feed`."""

    cols: int
    rows: int
    answers: bool = False


class Paint(Request, frozen=True):
    """Return VT bytes that paint the screen, with at most that many rows of scrollback."""

    scrollback: int


class Show(Request, frozen=True):
    """Return the screen as text, ANSI or HTML with its cursor and modes, as JSON (`screen.emulator.formats`)."""

    form: str
    scrollback: int


class Text(Request, frozen=True):
    """Return the visible rows as UTF-8."""


class Keys(Request, frozen=True):
    """Return what a terminal in the modes of the screen sends for a paste and these keys."""

    paste: str
    keys: list[str]


class Close(Request, frozen=True):
    """Release the screen."""


class Refusal(msgspec.Struct, frozen=True, array_like=True):
    """The error with which a request was refused."""

    code: str
    message: str
    details: dict[str, Any] | None = None


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """The answer to one request, with the state of the screen after it.

    Attributes:
        data: What was requested; empty for requests that return nothing.
        replies: Answers to queries in the output.
        whole: Whether no sequence is unfinished.
        calm: Whether text has its usual effect: `whole`, and the whole screen scrolls.
        refusal: The error, if the request was refused.
    """

    data: bytes = b""
    replies: bytes = b""
    whole: bool = True
    calm: bool = True
    refusal: Refusal | None = None


AnyRequest = Open | Feed | Resize | Paint | Show | Text | Keys | Close
_encode = msgspec.msgpack.Encoder().encode
decode_request = msgspec.msgpack.Decoder(AnyRequest).decode
_decode_answer = msgspec.msgpack.Decoder(Answer).decode


def framed(message: AnyRequest | Answer) -> bytes:
    """Return one message as a frame."""
    return frame(_encode(message))


def decode_answer(body: bytes) -> Answer:
    """Decode the body of a frame from the process. Raises `ProtocolError`."""
    try:
        return _decode_answer(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProtocolError(str(error)) from None
