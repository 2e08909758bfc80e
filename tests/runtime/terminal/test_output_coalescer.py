"""Small output is told at once; of a flood, what has gathered."""

import time

import pytest

from runtime.journal.journal import PORTION, Journal
from runtime.terminal.output_coalescer import TRICKLE, OutputCoalescer
from tests.support.runtime import eventually


class Told:
    """A journal whose readers note up to where they were told."""

    def __init__(self) -> None:
        self.journal = Journal(1 << 20)
        self.ends: list[int] = []
        self.teller = OutputCoalescer(self.journal, lambda: self.ends.append(self.journal.end))

    def print(self, size: int) -> None:
        self.journal.append(bytes(size))
        self.teller.output_added()


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes, except for timers."""
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)


@pytest.mark.usefixtures("still")
async def test_each_echo_is_told_at_once() -> None:
    told = Told()
    for _ in range(5):
        told.print(1)
    assert told.ends == [1, 2, 3, 4, 5]


@pytest.mark.usefixtures("still")
async def test_the_first_piece_is_told_at_once_and_what_follows_it_together() -> None:
    told = Told()
    for _ in range(5):
        told.print(4000)
    assert told.ends == [4000]
    await eventually(lambda: len(told.ends) == 2)
    assert told.ends == [4000, 20_000]


@pytest.mark.usefixtures("still")
async def test_a_portion_does_not_wait() -> None:
    told = Told()
    told.print(TRICKLE)
    for _ in range(PORTION // 4096):
        told.print(4096)
    assert told.ends == [TRICKLE, TRICKLE + PORTION]


@pytest.mark.usefixtures("still")
async def test_the_end_is_told_with_all_that_waits_and_once() -> None:
    told = Told()
    told.print(4000)
    told.print(4000)
    told.teller.now()
    assert told.ends == [4000, 8000]
    assert told.teller._timer is None
