"""Limits of journals and their readers."""

import msgspec

DEFAULT_CAPACITY = 4 << 20  # bytes; docs/decisions/0042


class FlowLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on the lag of readers and on the time that a program waits for them (see `Backpressure`)."""

    room: int = 512 << 10  # bytes that the fastest reader can lag behind; enough to keep it busy
    stall_timeout: float = 2.0  # seconds without progress until an ordinary reader is ignored
    progress: int = 16 << 10  # bytes that count as progress in that time; even a slow modem achieves this
    lossless_stall_timeout: float = 30.0  # the same for a lossless reader that consumes nothing
    hold_timeout: float = 30.0  # seconds that the position of a lossless reader is held after its connection was lost


class JournalLimits(msgspec.Struct, frozen=True):
    """Limits on output held in memory, in bytes."""

    total: int = 512 << 20  # all journals together
    each: int = DEFAULT_CAPACITY  # one journal, unless the total requires less
    flow: FlowLimits = FlowLimits()  # for the readers of each journal
