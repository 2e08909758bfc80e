"""Data frames: `kind u8 | ch u32 | offset u64 | payload`, big-endian (docs/wire.md section 3).

On a link, a shared frame is sent to many channels at once: `4 u8 | kind u8 | count u16 | offset u64 | ch u32 … |
payload`.
"""

import struct
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Final

from hawse.wire.errors import RemoteProtocolError

HEADER: Final = struct.Struct(">BIQ")
HEADER_SIZE: Final = HEADER.size
SHARED: Final = 4  # sent in place of the kind, to mark a shared frame
SHARED_HEADER = struct.Struct(">BBHQ")
SHARED_MAX = 1024  # maximum number of channels in a shared frame
SHARED_SIZE = SHARED_HEADER.size + 4 * SHARED_MAX  # maximum size of a shared frame's header, in bytes
OFFSET_MAX = (1 << 53) - 1  # 9 PB: the largest integer that a double holds exactly, as in JavaScript


class Kind(IntEnum):
    INPUT = 0
    OUTPUT = 1  # also used for stdout and file contents
    STDERR = 2
    SCREEN = 3  # a snapshot's bytes, which are not part of the output


class Data:
    """A received data frame. `payload` can be a view that is valid only until the next `receive_*`."""

    __slots__ = ("ch", "kind", "offset", "payload")

    def __init__(self, kind: Kind, ch: int, offset: int, payload: memoryview | bytes) -> None:
        self.kind: Final = kind
        self.ch: Final = ch
        self.offset: Final = offset
        self.payload: Final = payload

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Data):
            return NotImplemented
        return (self.kind, self.ch, self.offset, self.payload) == (other.kind, other.ch, other.offset, other.payload)

    def __hash__(self) -> int:
        return hash((self.kind, self.ch, self.offset, len(self.payload)))

    def __repr__(self) -> str:
        return f"Data({self.kind.name}, ch={self.ch}, offset={self.offset}, {len(self.payload)} bytes)"


_KINDS: Final = tuple(Kind)


def encode_frame(kind: int, ch: int, offset: int, payload: bytes | memoryview) -> bytes:
    return HEADER.pack(kind, ch, offset) + payload


def decode_frame(frame: bytes | memoryview, *, payload_limit: int) -> Data:
    """Decode a frame whose payload has at most `payload_limit` bytes.

    Raises:
        RemoteProtocolError: `frame` is not a valid frame, or it exceeds a limit.
    """
    if len(frame) < HEADER_SIZE:
        raise RemoteProtocolError("a frame is shorter than its header", code="invalid_message", close_code=1007)
    kind, ch, offset = HEADER.unpack_from(frame)
    return _checked(kind, ch, offset, memoryview(frame)[HEADER_SIZE:], payload_limit)


def _checked(kind: int, ch: int, offset: int, payload: memoryview, payload_limit: int) -> Data:
    size = len(payload)
    if kind >= len(_KINDS):
        raise RemoteProtocolError(
            f"unknown frame kind {kind}; expected 0 to {len(_KINDS) - 1}", code="invalid_message", close_code=1007
        )
    if size > payload_limit:
        raise RemoteProtocolError(f"a payload has {size} bytes; the limit is {payload_limit}", close_code=1009)
    if offset + size > OFFSET_MAX:
        raise RemoteProtocolError(f"offset {offset} plus {size} bytes must be at most {OFFSET_MAX}")
    return Data(_KINDS[kind], ch, offset, payload)


def encode_shared(kind: int, chs: Sequence[int], offset: int, payload: bytes | memoryview) -> bytes:
    header = SHARED_HEADER.pack(SHARED, kind, len(chs), offset)
    return b"".join((header, struct.pack(f">{len(chs)}I", *chs), payload))


def decode_shared(frame: bytes | memoryview, *, payload_limit: int) -> Iterator[Data]:
    """Yield one frame for each channel in a shared frame. Raises the same errors as `decode_frame`."""
    if len(frame) < SHARED_HEADER.size:
        raise RemoteProtocolError("a frame is shorter than its header", code="invalid_message", close_code=1007)
    _, kind, count, offset = SHARED_HEADER.unpack_from(frame)
    start = SHARED_HEADER.size + 4 * count
    if count > SHARED_MAX or start > len(frame):
        raise RemoteProtocolError(
            f"a frame for {count} channels has {len(frame)} bytes; the limit is {SHARED_MAX} channels",
            code="invalid_message",
            close_code=1007,
        )
    for ch in struct.unpack_from(f">{count}I", frame, SHARED_HEADER.size):
        yield _checked(kind, ch, offset, memoryview(frame)[start:], payload_limit)
