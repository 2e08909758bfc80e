"""Small output is notified at once; in a flood, notifications are coalesced."""

import asyncio
import time

import pytest

from hawse_runtime.journal.journal import PORTION, Journal
from hawse_runtime.terminal.output_coalescer import INTERVAL, TRICKLE, OutputCoalescer
from tests.support.waiting import Changes


class Notified:
    """A journal, and its end at each notification."""

    def __init__(self) -> None:
        self.journal = Journal(1 << 20)
        self.ends: list[int] = []
        self.changes = Changes()
        self.coalescer = OutputCoalescer(self.journal, self._notify)

    def _notify(self) -> None:
        self.ends.append(self.journal.end)
        self.changes.notify()

    def print(self, size: int) -> None:
        self.coalescer.append(bytes(size))


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes, except for timers."""
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)


@pytest.mark.usefixtures("still")
async def test_each_echo_is_notified_at_once() -> None:
    notified = Notified()
    for _ in range(5):
        notified.print(1)
    assert notified.ends == [1, 2, 3, 4, 5]


@pytest.mark.usefixtures("still")
async def test_the_first_piece_is_notified_at_once_and_the_following_ones_together() -> None:
    notified = Notified()
    for _ in range(5):
        notified.print(4000)
    assert notified.ends == [4000]
    await notified.changes.until(lambda: len(notified.ends) == 2)
    assert notified.ends == [4000, 20_000]


@pytest.mark.usefixtures("still")
async def test_a_portion_is_not_delayed() -> None:
    notified = Notified()
    notified.print(TRICKLE)
    for _ in range(PORTION // 4096):
        notified.print(4096)
    assert notified.ends == [TRICKLE, TRICKLE + PORTION]


@pytest.mark.usefixtures("still")
async def test_a_flush_notifies_of_everything_once() -> None:
    notified = Notified()
    notified.print(4000)
    notified.print(4000)
    notified.coalescer.flush()
    await asyncio.sleep(5 * INTERVAL)  # several times as long as a timer would take
    assert notified.ends == [4000, 8000]
