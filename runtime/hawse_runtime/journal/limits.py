"""The bounds of journals and of their readers."""

import msgspec

DEFAULT_CAPACITY = 4 << 20  # bytes; docs/decisions/0042


class FlowLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How far the readers of a journal may be behind, and how long a program waits for them (`Backpressure`)."""

    room: int = 512 << 10  # bytes the fastest reader may be behind: enough to keep a fast one busy
    stall_timeout: float = 2.0  # seconds without progress after which an ordinary reader is ignored
    progress: int = 16 << 10  # bytes in that time that count as progress: a slow modem is faster
    lossless_stall_timeout: float = 30.0  # the same as `stall_timeout`, for a lossless reader that takes nothing
    hold_timeout: float = 30.0  # seconds the position of a lossless reader is held after its connection was lost


class JournalLimits(msgspec.Struct, frozen=True):
    """Bytes of output that are held in memory."""

    total: int = 512 << 20  # of all journals together
    each: int = DEFAULT_CAPACITY  # of one journal, while there is room
    flow: FlowLimits = FlowLimits()  # of the readers of each journal
