"""The screen beside a journal: late on purpose, and never wrong."""

import pytest

from runtime.journal.journal import DEFAULT_CAPACITY, LEAST_CAPACITY, Journal
from runtime.screen.screen import Screen
from runtime.screen.screen_tracker import LAG, ScreenTracker
from runtime.screen.size_history import SizeHistory, SizeMark

LINES = b"".join(b"%062d\r\n" % n for n in range(20_000))


class Beside:
    """A sidecar with what it needs."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self.journal = Journal(capacity)
        self.sizes = SizeHistory(80, 24)
        self.replies: list[bytes] = []
        self.sidecar = ScreenTracker(self.journal, self.sizes, reply=self.replies.append)

    def print(self, data: bytes, *, answered: int | None = None) -> None:
        for at in range(0, len(data), 64 << 10):
            self.journal.append(data[at : at + (64 << 10)])
            self.sidecar.keep_near(answered)

    def resize(self, cols: int, rows: int) -> None:
        self.sizes.add(SizeMark(self.journal.end, cols, rows))


@pytest.fixture
def beside() -> Beside:
    return Beside()


def snapshot_of(*steps: bytes | tuple[int, int]) -> bytes:
    """Of a screen that read everything at once."""
    screen = Screen(80, 24)
    for step in steps:
        if isinstance(step, bytes):
            screen.feed(step)
        else:
            screen.resize(*step)
    snapshot = screen.snapshot()
    screen.close()
    return snapshot


def test_plain_text_waits_until_somebody_looks(beside: Beside) -> None:
    beside.print(LINES)
    assert beside.sidecar.fed == 0
    beside.print(LINES)
    assert 0 < beside.sidecar.fed < beside.journal.end, "what left no trace was passed over"
    assert beside.sidecar.snapshot().data == snapshot_of(LINES, LINES)
    assert beside.sidecar.fed == beside.journal.end


def test_sizes_count_from_where_they_were(beside: Beside) -> None:
    first, second, third = b"\x1b[31mred " * 50, LINES[: 64 * 1000], b"a line that is long enough to wrap " * 4
    beside.print(first)
    beside.resize(40, 10)
    beside.print(second)
    beside.resize(90, 30)
    beside.print(third)
    found = beside.sidecar.snapshot()
    assert (found.cols, found.rows, found.next_mark) == (90, 30, 3)
    assert found.data == snapshot_of(first, (40, 10), second, (90, 30), third)


@pytest.mark.parametrize("lines", [20_000, 4000, 3000, 2000, 1000])
def test_what_it_has_not_read_yet_it_reads_before_the_journal_forgets_it(beside: Beside, lines: int) -> None:
    text, more = LINES[: 64 * lines], LINES[: 132 << 10]  # as much as comes before it is told
    beside.print(text)
    beside.resize(90, 24)
    beside.journal.limit(LEAST_CAPACITY)
    assert len(beside.journal) <= LEAST_CAPACITY
    beside.journal.append(more)
    beside.sidecar.keep_near(None)
    assert beside.sidecar.snapshot().data == snapshot_of(text, (90, 24), more)


def test_the_smallest_journal_holds_what_waits_and_what_comes_meanwhile() -> None:
    beside = Beside(LEAST_CAPACITY)
    for _ in range(200):
        beside.journal.append(LINES[: (64 << 10) - 64])  # not told, since it is not enough
        beside.journal.append(LINES[: (64 << 10) + 4096])
        assert beside.journal.start <= beside.sidecar.fed
        beside.sidecar.keep_near(None)


def test_a_query_is_seen_at_once_where_no_viewer_answers(beside: Beside) -> None:
    beside.print(b"\x1b[6")
    beside.print(b"n")
    assert beside.replies == [b"\x1b[1;1R"]


def test_what_a_viewer_has_yet_to_answer_waits_for_it_but_not_for_ever(beside: Beside) -> None:
    beside.print(b"\x1b[6n", answered=0)
    assert beside.sidecar.fed == 0
    beside.print(b"\x1b[1mbold" * (LAG // 8), answered=0)
    assert beside.journal.end - beside.sidecar.fed <= LAG


def test_who_leaves_has_answered_what_it_had_and_plain_text_asks_nothing(beside: Beside) -> None:
    beside.print(b"plain", answered=0)
    beside.sidecar.answer_queries()
    assert beside.sidecar.fed == 0
    beside.print(b"\x1b[1mbold", answered=0)
    beside.sidecar.answer_queries(6)
    assert beside.sidecar.fed == 6
    beside.sidecar.answer_queries()
    assert beside.sidecar.fed == beside.journal.end


def test_one_that_is_closed_is_not_asked_by_its_journal(beside: Beside) -> None:
    beside.print(LINES)
    beside.sidecar.close()
    beside.journal.limit(256 << 10)


def test_the_same_place_is_painted_once_while_somebody_has_it(beside: Beside) -> None:
    beside.print(b"hello")
    first = beside.sidecar.snapshot()
    assert beside.sidecar.snapshot() is first
    beside.print(b"!")
    assert beside.sidecar.snapshot() is not first
