"""Messages between the runtime and its screen process, sent over a socket pair. This module does no I/O.

Each message is a frame (`hawse_runtime.core.framing`) that contains MessagePack. The process sends one `Answer` when it
is ready, then one for each request. It handles requests one at a time and in order, so requests need no numbers. If it
exits after becoming ready, it was handling the first unanswered request.

The process reads hostile bytes, so the runtime validates its answers.
"""

from typing import Any

import msgspec

from hawse_runtime.core.framing import decoded, frame

ANSWER_LIMIT = 64 << 20  # maximum size of a response, in bytes; the widest screens with full scrollback take 20 MB
# Maximum number of scrollback rows; libghostty drops whole pages and may keep up to 600 fewer.
SCROLLBACK_LINES = 6000
PIECE = 64 << 10  # minimum number of output bytes that justify the cost of a request
PIECE_LIMIT = 256 << 10  # maximum number of output bytes per request; they take 2 to 4 ms, delaying other requests


class Request(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Base class for requests. `screen` is the number that the runtime has assigned to the screen."""

    screen: int


class Open(Request, frozen=True):
    """Create a screen and feed `data` to it, without answering queries."""

    cols: int
    rows: int
    data: bytes = b""


class Feed(Request, frozen=True):
    """Read output. If `answers` is set, `Answer.replies` contains the answers to the queries in the output."""

    data: bytes
    answers: bool = False


class Resize(Request, frozen=True):
    """Change the screen's size. The answer is the same as for `Feed`."""

    cols: int
    rows: int
    answers: bool = False


class Paint(Request, frozen=True):
    """Return VT bytes that paint the screen with at most `scrollback` rows of scrollback."""

    scrollback: int


class Show(Request, frozen=True):
    """Return the screen as text, ANSI or HTML, with its cursor and modes, as JSON (`screen.emulator.formats`)."""

    form: str
    scrollback: int


class Text(Request, frozen=True):
    """Return the visible rows as UTF-8."""


class Keys(Request, frozen=True):
    """Return the bytes that a terminal in the screen's modes sends for a paste and for named keys."""

    paste: str
    keys: list[str]


class Close(Request, frozen=True):
    """Release the screen."""


class Refusal(msgspec.Struct, frozen=True, array_like=True):
    """The error for a request that failed."""

    code: str
    message: str
    details: dict[str, Any] | None = None


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """The response to one request, with the screen's state after the request.

    Attributes:
        data: The requested data; empty for requests without a result.
        replies: Answers to queries in the output.
        whole: Whether the output read so far ends outside any escape sequence.
        calm: Whether text has its usual effect: the screen is `whole`, and all of it scrolls.
        refusal: The error if the request failed; otherwise None.
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
    """Return a message as a frame."""
    return frame(_encode(message))


def decode_answer(body: bytes) -> Answer:
    """Decode the body of a frame received from the process. Raises `ProtocolError`."""
    return decoded(_decode_answer, body)
