"""Hides secrets in a server's WebSocket messages (RFC 6455, section 5). No I/O.

A secret can be split across frames, so messages are split into other frames here, which the RFC permits without
extensions (section 5.4). Data that may start a secret waits until the end of the message at most.
"""

from collections.abc import Sequence
from typing import Final

from hawse_gateway.egress.proxy_process.masking import Mask

CONTROL: Final = 0x8  # opcodes of control frames start here
CONTROL_MAX: Final = 125  # bytes of the payload of a control frame
LAST: Final = 0x80  # FIN, in the first byte
RESERVED: Final = 0x70  # RSV1 to RSV3, which only extensions use
MASKED: Final = 0x80  # in the second byte; a server must not mask


class MaskedFrames:
    """The frames from a server.

    Args:
        hidden: The texts that `Mask` hides in each message.
    """

    def __init__(self, hidden: Sequence[bytes]) -> None:
        self._mask = Mask(hidden)
        self._data = bytearray()  # unread data: a part of a header, or of a control frame
        self._left = 0  # missing bytes of the current data frame's payload
        self._last = False  # whether it is the last frame of its message
        self._opcode = 0  # of the next frame for the program: the message's opcode in its first frame, then 0
        self._open = False  # whether a message has started but not ended

    def feed(self, data: bytes) -> bytes:
        """Return frames for the program, given more bytes from the server. Raises `ValueError` if they are invalid."""
        self._data += data
        out = bytearray()
        while self._step(out):
            pass
        return bytes(out)

    def _step(self, out: bytearray) -> bool:
        """Consume a header or a part of a payload. Return False if more bytes are needed."""
        if self._left:
            return self._payload(out)
        data = self._data
        if len(data) < 2:
            return False
        first, second = data[0], data[1]
        if first & RESERVED or second & MASKED:
            raise ValueError("a frame with reserved bits or a mask")
        opcode, size = first & 0x0F, second & 0x7F
        extended = {126: 2, 127: 8}.get(size, 0)
        if len(data) < 2 + extended:
            return False
        if extended:
            size = int.from_bytes(data[2 : 2 + extended], "big")
        if opcode >= CONTROL:
            return self._control(out, first, size)
        if (opcode == 0) is not self._open:
            raise ValueError("a frame out of order")
        del data[: 2 + extended]
        self._opcode = opcode or self._opcode
        self._open, self._left, self._last = True, size, bool(first & LAST)
        return self._payload(out)

    def _control(self, out: bytearray, first: int, size: int) -> bool:
        if size > CONTROL_MAX or not first & LAST:
            raise ValueError("a control frame that is too long or in pieces")
        if len(self._data) < 2 + size:
            return False
        out += _frame(first, self._mask.hide(bytes(self._data[2 : 2 + size])))
        del self._data[: 2 + size]
        return True

    def _payload(self, out: bytearray) -> bool:
        """Pass on the available payload. The program gets the last frame of a message once it is complete."""
        taken = bytes(self._data[: self._left])
        del self._data[: len(taken)]
        self._left -= len(taken)
        passed = self._mask.feed(taken)
        ended = self._last and not self._left
        if ended:
            passed += self._mask.end()
        if passed or ended:
            out += _frame(self._opcode | (LAST if ended else 0), passed)
            self._opcode = 0
        self._open = not ended
        return bool(self._data)


def _frame(first: int, payload: bytes) -> bytes:
    size = len(payload)
    if size <= CONTROL_MAX:
        return bytes((first, size)) + payload
    extended, width = (126, 2) if size < 1 << 16 else (127, 8)
    return bytes((first, extended)) + size.to_bytes(width, "big") + payload
