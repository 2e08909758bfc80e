"""The limits of journals and their readers."""

import msgspec

DEFAULT_CAPACITY = 4 << 20  # bytes; docs/decisions/0042


class FlowLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How far readers can fall behind, and how long a program waits for them (`Backpressure`)."""

    room: int = 512 << 10  # maximum lag of the fastest reader in bytes: enough to keep it busy
    stall_timeout: float = 2.0  # seconds without progress until an ordinary reader is ignored
    progress: int = 16 << 10  # minimum bytes in that time to count as progress: a slow modem is faster
    lossless_stall_timeout: float = 30.0  # like `stall_timeout`, for a lossless reader that consumes nothing
    hold_timeout: float = 30.0  # seconds to hold the position of a lossless reader after a lost connection


class JournalLimits(msgspec.Struct, frozen=True):
    """Bytes of output held in memory."""

    total: int = 512 << 20  # of all journals together
    each: int = DEFAULT_CAPACITY  # of one journal, while there is room
    flow: FlowLimits = FlowLimits()  # of the readers of each journal
