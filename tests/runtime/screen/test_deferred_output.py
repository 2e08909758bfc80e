"""Which output waits, which is skipped, and what may contain a query."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from hawse_runtime.journal.journal import Journal
from hawse_runtime.screen.deferred_output import DeferredOutput, unfinished
from hawse_runtime.screen.emulator.screen import Screen
from tests.screens.cases import RECORDINGS

ROWS, SCROLLBACK = 5, 200


@given(st.text(max_size=20), st.data())
@settings(max_examples=200, deadline=None)
def test_a_character_is_never_cut(text: str, data: st.DataObject) -> None:
    encoded = text.encode()
    cut = data.draw(st.integers(0, len(encoded)))
    whole = encoded[: cut - unfinished(encoded[:cut])]
    assert text.startswith(whole.decode())
    assert unfinished(whole) == 0
    assert cut - len(whole) <= 3


@pytest.mark.parametrize("data", [b"\xff", b"\x80\x80\x80\x80", b"\xf8\x80", b"a\xe2\x82\xac", b""])
def test_bytes_that_do_not_begin_a_character_are_passed_on(data: bytes) -> None:
    assert unfinished(data) == 0


class Lazy:
    """A screen that reads output only as far as `DeferredOutput` demands."""

    def __init__(self, capacity: int = 1 << 20) -> None:
        self.journal = Journal(capacity)
        self.plan = DeferredOutput(self.journal, rows=SCROLLBACK)
        self.screen = Screen(20, ROWS, scrollback=SCROLLBACK)
        self.fed = 0
        self.read = 0  # bytes that the emulator has read

    def may_wait(self, *, cut: bool = False) -> bool:
        return self.screen.whole and self.plan.may_wait(self.fed, self.journal.end, cut=cut)

    def skip(self) -> None:
        if self.screen.calm:
            self.fed, styles = self.plan.skipped(self.fed, self.journal.end, ROWS)
            self.feed(styles)

    def feed(self, data: bytes) -> None:
        self.screen.feed(data)
        self.read += len(data)

    def catch_up(self) -> None:
        end = self.journal.end
        end -= unfinished(self.journal.copy(max(self.fed, end - 3), end))
        self.skip()
        if end > self.fed:
            self.feed(self.journal.copy(self.fed, end))
            self.fed = end


BEFORE = [b"", b"half a line", b"\x1b[31mred", b"\x1b[2;4r", b"\x1b[?1049h", b"\x1b[?7l\x1b[4h", b"\x1b(0", b"\x1b[3"]
LINES = [b"y", b"", b"a longer line that wraps in a narrow screen", b"tab\tbell\a", b"over\rwritten"]
STYLED = [
    *LINES,
    "✓ 日本 é e\u0301 ❤\ufe0f".encode(),
    b"\xff\xe2\x82\x9b6n\x80\x9f \xc2",  # not UTF-8
    b"\x1b[0m\x1b[1;31merror\x1b[0m: what",
    b"\x1b[44mthe style continues \x1b[4;38:2::1:2:3m in the next line",
    b"\x1b[mprogress 10 %\r\x1b[Kprogress 20 %\x1b[1G\x1b[2Kdone",
    b"\x1b[7",  # finished by the next line's first byte, if that is a letter
    b"m inverse",
]


@pytest.mark.parametrize("before", BEFORE)
@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=6),
    size=st.integers(300_000, 600_000),
    after=st.sampled_from([b"", b"$ ", b"\x1b[1mend", b"\x1b[?25l"]),
)
@settings(max_examples=10, deadline=None)
def test_skipped_plain_text_does_not_change_snapshots(
    before: bytes, lines: list[bytes], size: int, after: bytes
) -> None:
    lazy = Lazy()
    lazy.journal.append(before)
    lazy.catch_up()
    lazy.journal.append(b"\r\n".join(lines * 40_000)[:size])
    whole = before != b"\x1b[3"
    assert lazy.may_wait() is whole
    lazy.journal.append(after)
    assert lazy.may_wait() is (whole and b"\x1b[?" not in after)
    lazy.catch_up()
    assert_shows_all(lazy)


@pytest.mark.parametrize("before", BEFORE)
@given(
    lines=st.lists(st.sampled_from(STYLED), min_size=1, max_size=8),
    size=st.integers(300_000, 600_000),
    after=st.sampled_from([b"", b"$ ", b"\x1b[2Jend", b"\x1b[A\x1b[Jup"]),
    portion=st.integers(50_000, 100_000),
)
@settings(max_examples=20, deadline=None)
def test_skipped_styled_text_does_not_change_snapshots_wherever_portions_end(
    before: bytes, lines: list[bytes], size: int, after: bytes, portion: int
) -> None:
    output = before + b"\r\n".join(lines * 40_000)[:size] + after
    lazy = Lazy()
    for at in range(0, len(output), portion):
        lazy.journal.append(output[at : at + portion])
        if not lazy.may_wait(cut=True):
            lazy.catch_up()
        elif lazy.journal.end - lazy.fed > 4 * portion:
            lazy.skip()
    lazy.catch_up()
    assert_shows_all(lazy)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_text_that_is_skipped_between_parts_of_a_recording_does_not_change_snapshots(recording: Path) -> None:
    data, rng = recording.read_bytes(), random.Random(recording.name)
    cut = rng.randrange(len(data))
    flood = b"\r\n".join(rng.choice(STYLED[:-2]) for _ in range(20_000))
    output = data[:cut] + flood + data[cut:]
    lazy = Lazy(4 << 20)
    at = 0
    while at < len(output):
        portion = rng.choice((1, 100, 5000, 90_000))
        lazy.journal.append(output[at : at + portion])
        at += portion
        if not lazy.may_wait(cut=True):
            lazy.catch_up()
        elif lazy.journal.end - lazy.fed > 300_000:
            lazy.skip()
    lazy.catch_up()
    assert_shows_all(lazy)


def assert_shows_all(lazy: Lazy) -> None:
    """Assert that a screen that reads all bytes of the journal has the same snapshot, and close the screen."""
    eager = Screen(20, ROWS, scrollback=SCROLLBACK)
    eager.feed(lazy.journal.copy(0, lazy.fed))
    assert repainted(lazy.screen.snapshot()) == repainted(eager.snapshot())
    eager.close()
    lazy.screen.close()


def repainted(snapshot: bytes) -> bytes:
    """Render a snapshot of the screen that `snapshot` paints.

    Two snapshots of the same screen can differ in their bytes, where libghostty's pages end.
    """
    screen = Screen(20, ROWS, scrollback=SCROLLBACK)
    screen.feed(snapshot)
    painted = screen.snapshot()
    screen.close()
    return painted


@pytest.mark.parametrize(("line", "count"), [(b"y\r\n", 1_000_000), ("\x1b[32m✓\x1b[0m\r\n".encode(), 300_000)])
def test_the_emulator_does_not_read_most_of_a_flood_of_short_lines(line: bytes, count: int) -> None:
    lazy = Lazy(8 << 20)
    lazy.journal.append(line * count)
    assert lazy.may_wait()
    lazy.skip()
    assert lazy.read < 100
    lazy.catch_up()
    assert lazy.fed == lazy.journal.end
    assert lazy.read < lazy.journal.end // 10
    lazy.screen.close()


def test_what_a_screen_had_read_before_it_was_lost_is_read_again() -> None:
    lazy = Lazy()
    lazy.journal.append(b"\x1b[?25l" + b"y\r\n" * 1000)
    lazy.fed = lazy.journal.end
    lazy.journal.append(b"y\r\n" * 1000)
    assert lazy.may_wait()
    lazy.plan.went_back(lazy.fed)
    lazy.fed = 0
    assert not lazy.may_wait()
    lazy.screen.close()


QUERIES = [
    *(b"\x1b[c", b"\x1b[>c", b"\x1b[6n", b"\x1b[?996n", b"\x1b[?2026$p", b"\x1b[>q", b"\x1b[?u", b"\x1b[18t", b"\x1bZ"),
    *(b"\x05", b"\x1b]11;?\x07", b"\x1b]4;1;?\x1b\\", b"\x1bP+q544e\x1b\\", b"\x1b_Gi=1,a=q;AAAA\x1b\\", b"\x1b[?4m"),
    *(b"\x1b[?2048h", b"\x1b[?25;2048h", b"\x1b[x", b"\x1b[\x086n", b"\xc2\x9b6n", b"\x1b[", b"\x1b]11;", b"\x1b"),
]
OTHER = [
    *(b"plain \xe2\x9c\x93\r\n\t\a", b"\x1b[1;38:5:3mred\x1b[m", b"\x1b[?2004h", b"\x1b[?25l", b"\x1b]0;title\x07"),
    *(b"\x1b]133;A\x1b\\", b"\x1b]7;file://host/tmp\x07", b"\x1b(B", b"\x1b[2J\x1b[H", b"\x1b[4 q", b"\x1b7\x1b8"),
    b"\x1b[>4;1m",
]


@pytest.mark.parametrize("query", QUERIES)
def test_what_may_be_a_query_is_found_once(query: bytes) -> None:
    journal = Journal()
    plan = DeferredOutput(journal, rows=SCROLLBACK)
    journal.append(b"text \x1b[1m" + query)
    assert plan.asks(0, journal.end)
    assert not plan.asks(0, journal.end)


@pytest.mark.parametrize("output", OTHER)
def test_what_no_terminal_answers_is_no_query(output: bytes) -> None:
    journal = Journal()
    journal.append(output)
    assert not DeferredOutput(journal, rows=SCROLLBACK).asks(0, journal.end)


@pytest.mark.parametrize("output", QUERIES + OTHER)
def test_the_emulator_answers_nothing_that_is_not_found(output: bytes) -> None:
    replies: list[bytes] = []
    screen = Screen(20, ROWS, reply=replies.append)
    screen.feed(output)
    screen.resize(30, 6) if b"2048h" in output else None
    screen.close()
    assert not replies or output in QUERIES
