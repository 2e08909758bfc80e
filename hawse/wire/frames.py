"""Data frames: `kind u8 | ch u32 | offset u64 | payload`, big-endian (docs/wire.md section 3)."""

import struct
from enum import IntEnum
from typing import NamedTuple

from hawse.wire.errors import RemoteProtocolError

HEADER = struct.Struct(">BIQ")
HEADER_SIZE = HEADER.size
OFFSET_MAX = (1 << 53) - 1  # what every language's number holds exactly: 9 PB


class Kind(IntEnum):
    INPUT = 0
    OUTPUT = 1  # or stdout, or the bytes of a file
    STDERR = 2
    SCREEN = 3  # a snapshot's bytes: no part of the output


class Data(NamedTuple):
    """A data frame as received. `payload` may be a view that is valid only until the next `receive_*`."""

    kind: Kind
    ch: int
    offset: int
    payload: memoryview | bytes


_KINDS = tuple(Kind)


def encode_frame(kind: int, ch: int, offset: int, payload: bytes | memoryview) -> bytes:
    return b"".join((HEADER.pack(kind, ch, offset), payload))


def decode_frame(frame: bytes | memoryview, *, payload_limit: int) -> Data:
    """Raise `RemoteProtocolError` for anything that is not a frame within the limits."""
    size = len(frame) - HEADER_SIZE
    if size < 0:
        raise RemoteProtocolError("a frame is shorter than its header", code="invalid_message", close_code=1007)
    kind, ch, offset = HEADER.unpack_from(frame)
    if kind >= len(_KINDS):
        raise RemoteProtocolError(f"frame kind {kind}", code="invalid_message", close_code=1007)
    if size > payload_limit:
        raise RemoteProtocolError(f"a payload of {size} bytes; {payload_limit} are allowed", close_code=1009)
    if offset + size > OFFSET_MAX:
        raise RemoteProtocolError("an offset beyond 2^53")
    return Data(_KINDS[kind], ch, offset, memoryview(frame)[HEADER_SIZE:])
