"""Tracks how much of each input stream to a terminal or process has been applied, so that each byte is applied exactly
once.

An *input id* identifies a sender across reconnects (docs/wire.md section 5).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from hawse.wire.errors import HawseError

KEPT_IDS = 1024  # maximum number of input streams per terminal or process; the least recently used are dropped


class InputOffsets:
    """Counts the bytes applied for each input id."""

    def __init__(self) -> None:
        self._applied: OrderedDict[str, int] = OrderedDict()

    def applied(self, input_id: str) -> int:
        """Return the number of bytes applied from an input stream; 0 if it is new."""
        return self._applied.get(input_id, 0)

    def new_part(self, input_id: str, offset: int, payload: bytes | memoryview) -> bytes | memoryview:
        """Return the part of `payload` that hasn't been applied yet.

        Raises:
            HawseError: `input_gap` if bytes before `offset` are missing.
        """
        applied = self.applied(input_id)
        if offset > applied:
            raise HawseError(
                "input_gap",
                f"input starts at {offset}, but only {applied} bytes were applied before",
                details={"applied": applied},
            )
        return payload[applied - offset :]

    def advance(self, input_id: str, size: int) -> None:
        """Record that `size` more bytes from an input stream have been applied."""
        self._applied[input_id] = self._applied.get(input_id, 0) + size
        self._applied.move_to_end(input_id)
        if len(self._applied) > KEPT_IDS:
            self._applied.popitem(last=False)


class InputStreams:
    """The input streams that keep a program's stdin open. Stdin is closed once the last stream's hold time has
    passed.
    """

    def __init__(self) -> None:
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None

    def came(self) -> None:
        self._count += 1
        self.close()

    def left(self, hold: float, end: Callable[[], None]) -> None:
        """Record that a stream was detached. Calls `end` after `hold` seconds unless one has been attached by then."""
        self._count -= 1
        if not self._count:
            self._timer = asyncio.get_running_loop().call_later(hold, end)

    def close(self) -> None:
        """Cancel the pending call to `end`, because stdin is closed or a stream has been attached."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
