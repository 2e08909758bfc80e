"""Decodes control messages to structs, and raises errors for invalid messages (docs/wire.md section 2).

If a `call` has a valid channel number but another field is invalid, only the call ends. Any other invalid message
ends the connection, because later messages cannot be trusted.
"""

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from hawse.wire.errors import RemoteProtocolError
from hawse.wire.messages import CHANNEL_MAX, Message

REASON = 256  # maximum length of a reason, which can quote long input

# A JSON escape of a surrogate, alone or in a pair. An even number of backslashes before it are escaped backslashes.
_SURROGATE = re.compile(r"(?<!\\)((?:\\\\)*)\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class MalformedCallError(RemoteProtocolError):
    """The text is a `call` with a valid channel `ch`, but another field is invalid."""

    def __init__(self, message: str, ch: int) -> None:
        super().__init__(message, code="invalid_message", close_code=1007)
        self.ch = ch


class _CallChannel(msgspec.Struct):
    """The fields needed to respond to an invalid `call`. Some encoders write whole numbers as 1.0."""

    type: Literal["call"]
    ch: int | float


_call_channel = msgspec.json.Decoder(_CallChannel)


def parse(text: str | bytes | memoryview, decode: Callable[[str], Message], limit: int) -> Message:
    """Decode a control message.

    Args:
        text: a JSON object, in UTF-8 if it is not a `str`.
        decode: decodes the peer's messages.
        limit: maximum size of a message in bytes.

    Raises:
        MalformedCallError: a field of a `call` is invalid.
        RemoteProtocolError: the text is not a message that the peer can send, or is larger than `limit`.
    """
    try:
        # The limit is in bytes. A `str` that is not ASCII has more bytes than characters.
        size = len(text.encode()) if isinstance(text, str) and not text.isascii() else len(text)
        if size > limit:
            raise RemoteProtocolError(f"a control message has {size} bytes; the limit is {limit}", close_code=1009)
        # msgspec does not validate the UTF-8 in undecoded parts, which a gateway forwards, so the whole text is decoded
        # first. `params` and `value` are then views into this text instead of a read buffer.
        text = text if isinstance(text, str) else str(text, "utf-8")
    except ValueError as error:
        raise RemoteProtocolError(str(error)[:REASON], code="invalid_message", close_code=1007) from None
    try:
        return decode(text)
    except (ValueError, RecursionError) as error:
        reason = str(error)[:REASON]
    ch = channel_of_call(text)
    if ch is not None:
        raise MalformedCallError(reason, ch)
    raise RemoteProtocolError(reason, code="invalid_message", close_code=1007)


def channel_of_call(text: str) -> int | None:
    """Return the channel of an invalid `call`; None if `text` is not a `call` or its `ch` is invalid."""
    try:
        # `JSON.stringify` escapes a lone surrogate in a JavaScript string, and the decoder refuses it in any field.
        ch = _call_channel.decode(_SURROGATE.sub(r"\1\\ufffd", text)).ch
    except (ValueError, RecursionError):
        return None
    return int(ch) if 1 <= ch <= CHANNEL_MAX and ch == int(ch) else None
