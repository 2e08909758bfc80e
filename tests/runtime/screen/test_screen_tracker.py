"""The screen tracker: what the screen reads and when, snapshots of all output, and the loss of the screen."""

import random

import pytest

from hawse_runtime.journal.journal import LEAST_CAPACITY, Journal
from hawse_runtime.screen.emulator.screen import Screen
from hawse_runtime.screen.requests import Answer, Feed, Keys, Open, Paint, Text
from hawse_runtime.screen.screen_tracker import ALL, ATTEMPTS, LAG, LAZY
from hawse_runtime.screen.snapshot_cache import CachedSnapshot
from tests.screens.cases import RECORDINGS
from tests.support.local_screens import Tracked

LINES = b"".join(b"%062d\r\n" % n for n in range(20_000))
STYLED = b"\x1b[2;1H\x1b[1mbold\x1b[m text" * 2000  # cannot be skipped


@pytest.fixture
def tracked() -> Tracked:
    return Tracked()


def snapshot_of(*steps: bytes | tuple[int, int], scrollback: int = ALL) -> bytes:
    """Return the snapshot of a screen that reads all output at once."""
    screen = Screen(80, 24)
    for step in steps:
        if isinstance(step, bytes):
            screen.feed(step)
        else:
            screen.resize(*step)
    snapshot = screen.snapshot(scrollback)
    screen.close()
    return snapshot


# ---- what is read


def test_plain_text_is_deferred_until_a_snapshot_is_taken(tracked: Tracked) -> None:
    tracked.print(LINES)
    assert tracked.tracker.fed == 0
    tracked.print(LINES)
    assert 0 < tracked.tracker.fed < tracked.journal.end, "text that has scrolled out of the scrollback was skipped"
    assert tracked.screens.requests == [], "there is no screen yet"
    assert tracked.snapshot().data == snapshot_of(LINES, LINES)
    assert tracked.tracker.fed == tracked.journal.end
    assert tracked.screens.fed < tracked.journal.end // 4


def test_each_size_applies_from_its_offset(tracked: Tracked) -> None:
    first, second, third = b"\x1b[31mred " * 50, LINES[: 64 * 1000], b"a line that is long enough to wrap " * 4
    tracked.print(first)
    tracked.resize(40, 10)
    tracked.print(second)
    tracked.resize(90, 30)
    tracked.print(third)
    found = tracked.snapshot()
    assert (found.cols, found.rows, found.next_mark) == (90, 30, 3)
    assert found.data == snapshot_of(first, (40, 10), second, (90, 30), third)


def test_a_program_that_asks_nothing_and_prints_little_gets_no_screen(tracked: Tracked) -> None:
    prompt = b"\x1b]0;shell\x07\x1b]133;A\x1b\\\x1b[?2004h\x1b[32m$ \x1b[m"
    while tracked.journal.end < LAZY - len(prompt):
        tracked.print(prompt)
    assert tracked.screens.requests == []
    tracked.print(prompt)
    assert tracked.tracker.fed == tracked.journal.end


def test_output_that_the_answering_viewer_was_not_sent_is_not_read_until_the_lag(tracked: Tracked) -> None:
    tracked.print(b"\x1b[6n", answered=0)
    assert tracked.tracker.fed == 0
    tracked.print(b"\x1b[Abold" * (LAG // 4), answered=0)
    assert tracked.tracker.fed > 0
    assert tracked.journal.end - tracked.tracker.fed <= LAG + LAZY


def test_a_style_that_is_cut_between_two_reads_is_deferred(tracked: Tracked) -> None:
    styled = "\x1b[1;32m✓\x1b[0m passed\r\n".encode() * 20
    for at in range(0, len(styled), 7):
        tracked.print(styled[at : at + 7])
    assert tracked.tracker.fed == 0
    assert tracked.snapshot().data == snapshot_of(styled)


# ---- answers to queries


def test_a_query_is_answered_at_once_if_no_viewer_answers(tracked: Tracked) -> None:
    tracked.print(b"\x1b[6")
    tracked.print(b"n")
    assert tracked.replies == [b"\x1b[1;1R"]


def test_a_query_that_began_like_a_style_is_answered_after_the_answering_viewer_has_left(tracked: Tracked) -> None:
    tracked.tracker.hand_over(None, to_viewer=True)
    tracked.print(b"\x1b[1mtext\x1b[6", answered=0)
    assert tracked.tracker.fed == 0
    tracked.tracker.hand_over(0, to_viewer=False)
    tracked.print(b"n")
    assert tracked.replies == [b"\x1b[1;5R"]


def test_each_query_is_answered_by_the_screen_or_by_a_viewer(tracked: Tracked) -> None:
    query = b"x\x1b[6n"
    tracked.print(query)
    assert len(tracked.replies) == 1
    tracked.tracker.hand_over(None, to_viewer=True)
    tracked.print(query * 4, answered=tracked.journal.end)
    tracked.snapshot()
    assert len(tracked.replies) == 1, "the viewer answers what is printed while it is there"
    tracked.print(query * 4, answered=tracked.journal.end)
    left_at = tracked.journal.end - 2 * len(query)
    tracked.tracker.hand_over(left_at, to_viewer=False)
    assert b"".join(tracked.replies).count(b"R") == 3, "it was not sent the last two"
    assert tracked.tracker.fed == tracked.journal.end


def test_queries_from_before_a_viewer_came_are_answered_by_the_screen(tracked: Tracked) -> None:
    tracked.journal.append(b"\x1b[6n")
    tracked.tracker.hand_over(None, to_viewer=True)
    assert len(tracked.replies) == 1


# ---- snapshots


def test_a_snapshot_at_the_same_offset_is_shared_while_it_is_in_use(tracked: Tracked) -> None:
    tracked.print(b"hello")
    first = tracked.snapshot()
    assert tracked.snapshot() is first
    tracked.print(b"!")
    assert tracked.snapshot() is not first


def test_snapshots_that_are_wanted_at_the_same_time_are_painted_once(tracked: Tracked) -> None:
    tracked.print(b"hello")
    tracked.screens.hold()
    made: list[CachedSnapshot] = []
    for _ in range(5):
        tracked.tracker.snapshot(ALL, made.append)
    assert made == []
    tracked.screens.release()
    assert len(made) == 5
    assert len({id(snapshot) for snapshot in made}) == 1


def test_a_snapshot_shows_the_output_at_its_place_although_more_is_printed_meanwhile(tracked: Tracked) -> None:
    tracked.print(LINES[: 64 * 2000])
    tracked.screens.hold()
    made: list[CachedSnapshot] = []
    place = tracked.tracker.snapshot(ALL, made.append)
    for _ in range(30):
        tracked.print(LINES[: 64 * 1000])
    tracked.resize(100, 30)
    tracked.screens.release()
    assert (made[0].offset, made[0].cols, made[0].next_mark) == (place.offset, 80, 1)
    assert made[0].data == snapshot_of(LINES[: 64 * 2000])


def test_other_requests_have_their_place_behind_all_output(tracked: Tracked) -> None:
    answers: list[Answer | None] = []
    tracked.print(b"\x1b[?1h\x1b[?2004hab")
    tracked.tracker.request(Text, answers.append)
    tracked.print(b"cd")
    tracked.tracker.request(lambda screen: Keys(screen, "x", ["up"]), answers.append)
    tracked.tracker.request(Text, answers.append)
    found = [answer.data for answer in answers if answer is not None]
    assert [found[0].strip(), found[1], found[2].strip()] == [b"ab", b"\x1b[200~x\x1b[201~\x1bOA", b"abcd"]


def test_a_closed_tracker_answers_with_plain_text(tracked: Tracked) -> None:
    tracked.print(b"\x1b[1mhello\x1b[m")
    tracked.tracker.close()
    assert tracked.snapshot().data == b"hello"
    tracked.tracker.close()
    assert len(tracked.screens.emulators) == 0


# ---- the journal


@pytest.mark.parametrize("lines", [20_000, 4000, 3000, 2000, 1000])
def test_output_that_only_scrolls_is_read_before_the_journal_drops_it(tracked: Tracked, lines: int) -> None:
    text, more = LINES[: 64 * lines], LINES[: 132 << 10]  # the most output between two calls of `keep_near`
    tracked.print(text)
    tracked.resize(90, 24)
    tracked.journal.needed = lambda: tracked.tracker.cursor or 0
    tracked.journal.limit(LEAST_CAPACITY)
    tracked.journal.append(more)
    tracked.tracker.keep_near(None)
    assert tracked.snapshot().data == snapshot_of(text, (90, 24), more)
    tracked.journal.append(b"end")
    assert tracked.journal.allocated <= 2 * LEAST_CAPACITY


@pytest.mark.parametrize("output", [LINES, STYLED, STYLED + LINES, b"\x1b]0;" + b"long" * 30_000], ids=len)
@pytest.mark.parametrize("capacity", [LEAST_CAPACITY, 4 << 20])
def test_the_journal_always_holds_what_another_screen_needs(output: bytes, capacity: int) -> None:
    tracked = Tracked(Journal(capacity))
    while tracked.journal.end < 3 * capacity:
        tracked.print(output, portion=60_000)
        assert tracked.tracker.cursor is not None
        assert tracked.journal.end - tracked.tracker.cursor <= capacity // 2, "else the program is paused"
    assert tracked.moves > 0


def test_the_journal_does_not_call_a_tracker_that_is_closed(tracked: Tracked) -> None:
    tracked.print(LINES)
    tracked.tracker.close()
    fed = tracked.tracker.fed
    tracked.journal.limit(256 << 10)
    assert tracked.tracker.fed == fed


# ---- a lost screen


def test_a_snapshot_after_a_crash_is_exact(tracked: Tracked) -> None:
    for recording in RECORDINGS[::4]:
        tracked.print(recording.read_bytes())
        tracked.screens.crash()
    output = b"".join(recording.read_bytes() for recording in RECORDINGS[::4])
    assert tracked.snapshot(0).data == snapshot_of(output, scrollback=0)


@pytest.mark.parametrize("seed", range(12))
def test_the_screen_is_exact_wherever_the_process_crashes(seed: int) -> None:
    rng = random.Random(seed)
    tracked = Tracked(Journal(rng.choice((LEAST_CAPACITY, 1 << 20))))
    recordings = b"".join(rng.choice(RECORDINGS).read_bytes()[:200_000] for _ in range(6))
    output = recordings + LINES[: rng.randrange(400_000)] + recordings
    tracked.screens.crashes_at = lambda request: rng.random() < 0.03
    at = 0
    while at < len(output):
        portion = rng.choice((100, 5000, 60_000))
        tracked.print(output[at : at + portion])
        at += portion
        tracked.screens.crash_while_asked()
        assert tracked.tracker.cursor is not None
        assert tracked.journal.start <= tracked.tracker.cursor
        assert tracked.journal.end - tracked.tracker.cursor <= tracked.journal.capacity // 2, "the program is paused"
    tracked.screens.crashes_at = lambda request: False
    wanted = Screen(80, 24)
    wanted.feed(output)
    shown = Screen(80, 24)
    shown.feed(tracked.snapshot().data)
    assert shown.text() == wanted.text()
    assert shown.emulator.cursor == wanted.emulator.cursor
    shown.close()
    wanted.close()


def test_a_query_is_answered_once_although_it_is_read_again(tracked: Tracked) -> None:
    tracked.print(b"\x1b[6n")
    tracked.screens.crash()
    tracked.snapshot()
    assert len(tracked.replies) == 1
    tracked.screens.crashes_at = lambda request: isinstance(request, Feed) and b"\x1b[c" in request.data
    tracked.print(b"\x1b[c")
    assert len(tracked.replies) == 1
    tracked.screens.crashes_at = lambda request: False
    tracked.screens.crash()
    assert len(tracked.replies) == 2


def test_after_a_crash_a_screen_is_made_when_it_is_needed(tracked: Tracked) -> None:
    tracked.print(STYLED * 10)
    tracked.snapshot()
    tracked.screens.requests.clear()
    tracked.screens.crash()
    assert tracked.screens.requests == []
    tracked.snapshot()
    assert isinstance(tracked.screens.requests[0], Open)


@pytest.mark.parametrize("viewer", [True, False])
def test_after_a_crash_the_checkpoint_is_made_that_a_paused_program_waits_for(tracked: Tracked, viewer: bool) -> None:
    """No more output comes, and so no more calls."""
    tracked.screens.crashes_at = lambda request: isinstance(request, Paint)
    while not any(isinstance(request, Paint) for request in tracked.screens.requests):
        tracked.print(STYLED, answered=tracked.journal.end + len(STYLED) if viewer else None)
    tracked.screens.crashes_at = lambda request: False
    assert tracked.screens.crash_while_asked() == 1
    assert tracked.tracker.cursor is not None
    assert tracked.journal.end - tracked.tracker.cursor < tracked.journal.capacity // 4


def test_output_that_crashes_the_process_each_time_is_left_out(tracked: Tracked) -> None:
    tracked.screens.crashes_at = lambda request: isinstance(request, Feed) and b"poison" in request.data
    tracked.print(b"\x1b[1mbefore\x1b[m\r\n\x1b[6n")
    tracked.print(b"\x1b[2Gpoison\x1b[c")
    assert tracked.screens.crash_while_asked() == ATTEMPTS
    tracked.print(b"\r\nafter\x1b[6n")
    assert tracked.screens.crash_while_asked() == 0
    assert len(tracked.replies) == 2
    assert [row for row in snapshot_text(tracked).split() if row] == ["before", "poison", "after"]


def test_a_screen_whose_painting_crashes_each_time_is_shown_as_plain_text(tracked: Tracked) -> None:
    tracked.screens.crashes_at = lambda request: isinstance(request, Paint)
    tracked.print(b"\x1b[1mhello\x1b[m")
    made: list[CachedSnapshot] = []
    tracked.tracker.snapshot(ALL, made.append)
    assert tracked.screens.crash_while_asked() == ATTEMPTS
    assert made[0].data == b"hello"


def test_while_no_process_can_be_started_snapshots_are_plain_and_the_program_is_not_paused(tracked: Tracked) -> None:
    tracked.screens.available = False
    tracked.print(b"\x1b[1mhello\x1b[m\x1b[6n")
    assert tracked.snapshot().data == b"hello"
    assert tracked.tracker.cursor is None
    tracked.screens.available = True
    tracked.tracker.proceed()
    assert len(tracked.replies) == 1


def test_output_that_was_lost_is_left_out() -> None:
    tracked = Tracked(Journal(LEAST_CAPACITY))
    tracked.screens.available = False
    tracked.print(STYLED * 20)
    tracked.screens.available = True
    tracked.print(b"\x1b[2J\x1b[Hend")
    assert snapshot_text(tracked).strip() == "end"


def snapshot_text(tracked: Tracked) -> str:
    """Return the text that a snapshot shows."""
    screen = Screen(80, 24)
    screen.feed(tracked.snapshot(0).data)
    text = screen.text()
    screen.close()
    return text
