"""Masks secrets in a server's WebSocket messages (RFC 6455, section 5). No I/O.

A secret can be split across frames. Messages are therefore split into new frames, which the RFC permits if no
extensions are used (section 5.4). Data that could be the start of a secret is held back until more data arrives or the
message ends.
"""

from collections.abc import Sequence
from typing import Final

from hawse_gateway.egress.proxy_process.masking import Mask

CONTROL: Final = 0x8  # the lowest opcode for a control frame
CONTROL_MAX: Final = 125  # maximum payload of a control frame, in bytes
LAST: Final = 0x80  # the FIN bit in the first byte
RESERVED: Final = 0x70  # RSV1 to RSV3, used only by extensions
MASKED: Final = 0x80  # the MASK bit in the second byte, which servers must not set


class MaskedFrames:
    """Masks strings in a server's frames.

    Args:
        hidden: The strings to mask in each message.
    """

    def __init__(self, hidden: Sequence[bytes]) -> None:
        self._mask = Mask(hidden)
        self._data = bytearray()  # data not yet processed: part of a header or control frame
        self._left = 0  # number of payload bytes left in the current data frame
        self._last = False  # whether the current frame is the last in its message
        self._opcode = 0  # opcode for the next frame to the program; 0 after a message's first frame
        self._open = False  # whether a message is still incomplete

    def feed(self, data: bytes) -> bytes:
        """Convert more bytes from the server to frames for the program. Raises `ValueError` for invalid frames."""
        self._data += data
        out = bytearray()
        while self._step(out):
            pass
        return bytes(out)

    def _step(self, out: bytearray) -> bool:
        """Consume a header or part of a payload. Return False if more bytes are needed."""
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
            raise ValueError("a control frame that is too long or fragmented")
        if len(self._data) < 2 + size:
            return False
        out += _frame(first, self._mask.hide(bytes(self._data[2 : 2 + size])))
        del self._data[: 2 + size]
        return True

    def _payload(self, out: bytearray) -> bool:
        """Return frames with the payload available so far. A message's final frame is only marked as final once its
        payload is complete."""
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
