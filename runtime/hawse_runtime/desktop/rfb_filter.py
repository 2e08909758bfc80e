"""Checks a viewer's messages to the X server: RFB client messages (RFC 6143, sections 7.1, 7.3 and 7.5).

A viewer may be hostile. Each message is read completely, up to a size limit, before any of it is forwarded. Input from
viewers without permission is dropped, and features that change the format of later messages are filtered out.
"""

import struct
from collections.abc import Callable
from typing import Final

from hawse.wire import HawseError
from hawse_runtime.desktop.rfb import CUT_TEXT_MAX, EXTENDED_CLIPBOARD, NO_SECURITY, VERSION

ENCODINGS_MAX: Final = 128  # maximum number of encodings in a message
SCREENS_MAX: Final = 16
FENCE_MAX: Final = 64  # maximum size of a fence's data, in bytes
SHARED: Final = b"\x01"  # the ClientInit message that keeps other viewers connected

# Encodings that a viewer can request: pixel encodings, and pseudo-encodings that add no client messages other than the
# ones below. Extended mouse buttons (-316), for example, are excluded because they change the format of pointer events.
_PIXELS: Final = (0, 1, 2, 5, 6, 7, 16)
_LEVELS: Final = (*range(-32, -22), *range(-256, -246), *range(-512, -411), *range(-768, -762))
_PSEUDO: Final = (-223, -224, -232, -239, -258, -261, -307, -308, -312, -313, -314, 0x574D5664, EXTENDED_CLIPBOARD)
ENCODINGS: Final = frozenset((*_PIXELS, *_LEVELS, *_PSEUDO))

_FIXED: Final = {0: 20, 3: 10, 4: 8, 5: 6, 150: 10, 255: 12}  # sizes of fixed-size messages in bytes, keyed by type
_HEADS: Final = {2: 4, 6: 8, 248: 9, 251: 8}  # sizes of other messages' heads in bytes, keyed by type
_KEYS: Final = (4, 255)  # key events
_POINTER: Final = 5
_OTHER_INPUT: Final = (6, 251)  # types of clipboard and screen size messages
QEMU_KEY: Final = 0  # the submessage for key events in type 255
PRESSED_MAX: Final = 128  # maximum number of keys that a viewer can hold at once


class ViewerMessages:
    """Splits the bytes from one viewer into messages and checks them."""

    def __init__(self, may_write: Callable[[], bool], on_input: Callable[[], object]) -> None:
        """Create an instance that expects the handshake first.

        Args:
            may_write: Returns whether the viewer is currently allowed to send input.
            on_input: Called for each forwarded key or pointer message.
        """
        self._may_write = may_write
        self._on_input = on_input
        self._buffer = bytearray()
        self._pressed: set[bytes] = set()  # keysyms of keys held by the viewer
        self._pointer = bytes(6)  # the most recently forwarded pointer event
        self._handshake = [self._version, self._security, self._init]

    def receive(self, data: bytes | memoryview) -> bytes:
        """Process bytes from the viewer. Return the bytes to send to the X server.

        Raises:
            HawseError: `protocol_error` for a forbidden message. After that, `receive` must not be called.
        """
        self._buffer += data
        out = bytearray()
        while (size := self._size()) and len(self._buffer) >= size:
            message = bytes(self._buffer[:size])
            del self._buffer[:size]
            out += self._handshake.pop(0)(message) if self._handshake else self._message(message)
        return bytes(out)

    @property
    def held(self) -> int:
        """The number of bytes buffered from an incomplete message."""
        return len(self._buffer)

    # ---- sizes

    def _size(self) -> int:
        """The size of the first message in the buffer or, while its head is incomplete, of the head; 0 if unknown."""
        buffer = self._buffer
        if self._handshake:
            return len(VERSION) if len(self._handshake) == 3 else 1
        if not buffer:
            return 0
        kind = buffer[0]
        if kind in _FIXED:
            return _FIXED[kind]
        if kind not in _HEADS:
            raise _refused(f"a message of type {kind}")
        head = _HEADS[kind]
        return head if len(buffer) < head else head + self._rest(kind)

    def _rest(self, kind: int) -> int:
        """The number of bytes that follow a message's head."""
        buffer = self._buffer
        if kind == 2:
            return 4 * _bounded(int.from_bytes(buffer[2:4], "big"), ENCODINGS_MAX, "encodings")
        if kind == 248:
            return _bounded(buffer[8], FENCE_MAX, "bytes in a fence")
        if kind == 251:
            return 16 * _bounded(buffer[6], SCREENS_MAX, "screens")
        (length,) = struct.unpack_from(">i", buffer, 4)
        if length < 0 and -length < 4:
            raise _refused("an extended clipboard message without flags")
        return _bounded(abs(length), CUT_TEXT_MAX, "bytes in a clipboard message")

    # ---- messages

    def _version(self, message: bytes) -> bytes:
        if message != VERSION:
            raise _refused(f"version {message!r}; only {VERSION!r} is allowed")
        return message

    def _security(self, message: bytes) -> bytes:
        if message[0] != NO_SECURITY:
            raise _refused(f"security type {message[0]}; only {NO_SECURITY} is allowed")
        return message

    def _init(self, message: bytes) -> bytes:
        return SHARED

    def _message(self, message: bytes) -> bytes:
        kind = message[0]
        if kind == 2:
            asked = struct.unpack(f">{(len(message) - 4) // 4}i", message[4:])
            allowed = [encoding for encoding in asked if encoding in ENCODINGS]
            return struct.pack(f">BxH{len(allowed)}i", 2, len(allowed), *allowed)
        if kind == 255 and message[1] != QEMU_KEY:
            raise _refused(f"a QEMU message of type {message[1]}")
        if kind in _KEYS:
            return self._key(message)
        if kind == _POINTER:
            return self._move(message)
        return message if kind not in _OTHER_INPUT or self._may_write() else b""

    def _key(self, message: bytes) -> bytes:
        """Forward a key event. If the viewer can't write, forward only the release of a key pressed earlier."""
        keysym = message[4:8]
        down = any(message[1:2] if message[0] == 4 else message[2:4])
        if not down and keysym in self._pressed:
            self._pressed.discard(keysym)
            return message
        if not self._may_write() or (down and len(self._pressed) >= PRESSED_MAX):
            return b""
        if down:
            self._pressed.add(keysym)
        self._on_input()
        return message

    def _move(self, message: bytes) -> bytes:
        """Forward a pointer event. If the viewer can't write, forward only the release of buttons pressed earlier."""
        if self._may_write():
            self._pointer = message
            self._on_input()
            return message
        if self._pointer[1]:
            self._pointer = bytes((_POINTER, 0)) + self._pointer[2:]
            return self._pointer
        return b""


def _bounded(number: int, limit: int, what: str) -> int:
    if number > limit:
        raise _refused(f"{number} {what}; at most {limit} are allowed")
    return number


def _refused(what: str) -> HawseError:
    return HawseError("protocol_error", f"the viewer sent {what}")
