"""Limits on journals and their readers."""

import msgspec

DEFAULT_CAPACITY = 4 << 20  # size in bytes; docs/decisions/0042 explains the value


class FlowLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on how far readers can lag and how long a program waits for them (see `Backpressure`)."""

    room: int = 512 << 10  # maximum number of bytes that the fastest reader can lag behind; enough to keep it busy
    stall_timeout: float = 2.0  # seconds without progress until an ordinary reader is ignored
    progress: int = 16 << 10  # minimum number of bytes read in `stall_timeout`; even a slow modem transfers more
    lossless_stall_timeout: float = 30.0  # seconds until a lossless reader that consumes nothing is ignored
    hold_timeout: float = 30.0  # seconds to hold a lossless reader's position after its connection is lost


class JournalLimits(msgspec.Struct, frozen=True):
    """Limits on output held in memory, in bytes."""

    total: int = 512 << 20  # combined limit for all journals
    each: int = DEFAULT_CAPACITY  # limit for each journal, unless the total requires a lower one
    flow: FlowLimits = FlowLimits()  # limits for each journal's readers
