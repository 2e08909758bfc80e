"""Decodes control messages to structs, and raises the errors for invalid ones (docs/wire.md section 2).

A `call` whose fields are wrong ends only the call, if its channel number can be read. Any other mistake ends the
connection, because the messages after it cannot be trusted.
"""

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from hawse.wire.errors import RemoteProtocolError
from hawse.wire.messages import CHANNEL_MAX, Message

REASON = 256  # characters of a reason, which can quote long input

# A surrogate, alone or one of a pair, as JSON escapes it; an even number of backslashes before it is text.
_SURROGATE = re.compile(r"(?<!\\)((?:\\\\)*)\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class MalformedCallError(RemoteProtocolError):
    """The text is a `call` that names a channel, but another field is wrong. `ch` is that channel."""

    def __init__(self, message: str, ch: int) -> None:
        super().__init__(message, code="invalid_message", close_code=1007)
        self.ch = ch


class _CallChannel(msgspec.Struct):
    """The only fields of a `call` that are needed to answer it. Some encoders write whole numbers as 1.0."""

    type: Literal["call"]
    ch: int | float


_call_channel = msgspec.json.Decoder(_CallChannel)


def parse(text: str | bytes | memoryview, decode: Callable[[str], Message], limit: int) -> Message:
    """Decode a control message.

    Args:
        text: a JSON object, in UTF-8 if it is not a `str`.
        decode: decodes the messages of the other side.
        limit: maximum size of a message in bytes.

    Raises:
        MalformedCallError: a `call` with a wrong field.
        RemoteProtocolError: any other text that is not a message of the other side, or is larger than `limit`.
    """
    try:
        # The limit counts bytes. A `str` that is not ASCII has more of them than characters.
        size = len(text.encode()) if isinstance(text, str) and not text.isascii() else len(text)
        if size > limit:
            raise RemoteProtocolError(f"a control message of {size} bytes; {limit} are allowed", close_code=1009)
        # msgspec does not validate undecoded parts, which a gateway forwards, so the whole text must be decoded from
        # UTF-8 first. Then, `params` and `value` are views into this text instead of a read buffer.
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
    """Return the channel of a `call` with wrong fields; None if `text` is not a `call`, or its `ch` is not usable."""
    try:
        # `JSON.stringify` escapes a lone surrogate of a JavaScript string. A decoder refuses it anywhere.
        ch = _call_channel.decode(_SURROGATE.sub(r"\1\\ufffd", text)).ch
    except (ValueError, RecursionError):
        return None
    return int(ch) if 1 <= ch <= CHANNEL_MAX and ch == int(ch) else None
