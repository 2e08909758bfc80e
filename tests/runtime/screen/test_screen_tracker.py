"""The screen tracker: it defers text that only scrolls, and its snapshots always show all output."""

import pytest

from runtime.journal.journal import DEFAULT_CAPACITY, LEAST_CAPACITY, Journal
from runtime.screen.screen import Screen
from runtime.screen.screen_tracker import LAG, ScreenTracker
from runtime.screen.size_history import SizeHistory, SizeMark

LINES = b"".join(b"%062d\r\n" % n for n in range(20_000))


class Tracked:
    """A screen tracker with its journal and the history of its sizes."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self.journal = Journal(capacity)
        self.sizes = SizeHistory(80, 24)
        self.replies: list[bytes] = []
        self.tracker = ScreenTracker(self.journal, self.sizes, reply=self.replies.append)

    def print(self, data: bytes, *, answered: int | None = None) -> None:
        for at in range(0, len(data), 64 << 10):
            self.journal.append(data[at : at + (64 << 10)])
            self.tracker.keep_near(answered)

    def resize(self, cols: int, rows: int) -> None:
        self.sizes.add(SizeMark(self.journal.end, cols, rows))


@pytest.fixture
def tracked() -> Tracked:
    return Tracked()


def snapshot_of(*steps: bytes | tuple[int, int]) -> bytes:
    """Return the snapshot of a screen that reads all output at once."""
    screen = Screen(80, 24)
    for step in steps:
        if isinstance(step, bytes):
            screen.feed(step)
        else:
            screen.resize(*step)
    snapshot = screen.snapshot()
    screen.close()
    return snapshot


def test_plain_text_is_deferred_until_a_snapshot_is_taken(tracked: Tracked) -> None:
    tracked.print(LINES)
    assert tracked.tracker.fed == 0
    tracked.print(LINES)
    assert 0 < tracked.tracker.fed < tracked.journal.end, "text that has scrolled out of the scrollback was skipped"
    assert tracked.tracker.snapshot().data == snapshot_of(LINES, LINES)
    assert tracked.tracker.fed == tracked.journal.end


def test_each_size_applies_from_its_offset(tracked: Tracked) -> None:
    first, second, third = b"\x1b[31mred " * 50, LINES[: 64 * 1000], b"a line that is long enough to wrap " * 4
    tracked.print(first)
    tracked.resize(40, 10)
    tracked.print(second)
    tracked.resize(90, 30)
    tracked.print(third)
    found = tracked.tracker.snapshot()
    assert (found.cols, found.rows, found.next_mark) == (90, 30, 3)
    assert found.data == snapshot_of(first, (40, 10), second, (90, 30), third)


@pytest.mark.parametrize("lines", [20_000, 4000, 3000, 2000, 1000])
def test_unread_output_is_read_before_the_journal_drops_it(tracked: Tracked, lines: int) -> None:
    text, more = (
        LINES[: 64 * lines],
        LINES[: 132 << 10],
    )  # the most output between two calls of `keep_near`
    tracked.print(text)
    tracked.resize(90, 24)
    tracked.journal.limit(LEAST_CAPACITY)
    assert len(tracked.journal) <= LEAST_CAPACITY
    tracked.journal.append(more)
    tracked.tracker.keep_near(None)
    assert tracked.tracker.snapshot().data == snapshot_of(text, (90, 24), more)


def test_the_smallest_journal_holds_deferred_and_new_output() -> None:
    tracked = Tracked(LEAST_CAPACITY)
    for _ in range(200):
        tracked.journal.append(LINES[: (64 << 10) - 64])  # below the amount at which `keep_near` is called
        tracked.journal.append(LINES[: (64 << 10) + 4096])
        assert tracked.journal.start <= tracked.tracker.fed
        tracked.tracker.keep_near(None)


def test_a_query_is_answered_at_once_if_no_viewer_answers(tracked: Tracked) -> None:
    tracked.print(b"\x1b[6")
    tracked.print(b"n")
    assert tracked.replies == [b"\x1b[1;1R"]


def test_a_query_that_began_like_a_style_is_answered_after_the_answering_viewer_has_left(tracked: Tracked) -> None:
    tracked.print(b"\x1b[1mtext\x1b[6", answered=0)
    assert tracked.tracker.fed == 0
    tracked.tracker.answer_queries()
    tracked.print(b"n")
    assert tracked.replies == [b"\x1b[1;5R"]


def test_a_style_that_is_cut_between_two_reads_is_deferred(tracked: Tracked) -> None:
    styled = "\x1b[1;32m✓\x1b[0m passed\r\n".encode() * 20
    for at in range(0, len(styled), 7):
        tracked.print(styled[at : at + 7])
    assert tracked.tracker.fed == 0
    assert tracked.tracker.snapshot().data == snapshot_of(styled)


def test_output_that_a_viewer_has_not_answered_is_deferred_by_at_most_the_lag(tracked: Tracked) -> None:
    tracked.print(b"\x1b[6n", answered=0)
    assert tracked.tracker.fed == 0
    tracked.print(b"\x1b[1mbold" * (LAG // 8), answered=0)
    assert tracked.journal.end - tracked.tracker.fed <= LAG


def test_when_the_answering_viewer_leaves_the_rest_is_read_unless_it_only_scrolls(tracked: Tracked) -> None:
    tracked.print("\x1b[32m✓\x1b[0m".encode(), answered=0)
    tracked.tracker.answer_queries()
    assert tracked.tracker.fed == 0
    tracked.print(b"\x1b[?25lhidden", answered=0)
    tracked.tracker.answer_queries(13)
    assert tracked.tracker.fed == 13
    tracked.tracker.answer_queries()
    assert tracked.tracker.fed == tracked.journal.end


def test_the_journal_does_not_call_a_tracker_that_is_closed(tracked: Tracked) -> None:
    tracked.print(LINES)
    tracked.tracker.close()
    fed = tracked.tracker.fed
    tracked.journal.limit(256 << 10)
    assert tracked.tracker.fed == fed


def test_a_snapshot_at_the_same_offset_is_shared_while_it_is_in_use(tracked: Tracked) -> None:
    tracked.print(b"hello")
    first = tracked.tracker.snapshot()
    assert tracked.tracker.snapshot() is first
    tracked.print(b"!")
    assert tracked.tracker.snapshot() is not first
