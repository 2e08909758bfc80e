"""The screen reads from the journal, answers queries, and never stops within a character."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from pyghostty import Terminal as Emulator

from runtime.journal.journal import Journal
from runtime.screen.screen import SCROLLBACK_BYTES, SCROLLBACK_LINES, Screen, unfinished
from tests.screens.cases import RECORDINGS


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


def test_it_reads_up_to_the_given_offset_in_pieces_of_any_size() -> None:
    text = "".join(f"line {n} ✓ 日本\r\n" for n in range(2000)).encode()
    journal = Journal(1 << 16)
    screen = Screen(40, 5)
    for at in range(0, len(text), 777):
        journal.append(text[at : at + 777])
        screen.catch_up(journal, journal.end)
        assert journal.end - 3 <= screen.fed <= journal.end
    assert "line 1999 ✓ 日本" in screen.text()
    screen.close()


def test_it_answers_queries_once() -> None:
    replies: list[bytes] = []
    screen = Screen(40, 5, reply=replies.append)
    journal = Journal()
    journal.append(b"ab\x1b[6n")
    screen.catch_up(journal, journal.end)
    screen.snapshot()
    screen.catch_up(journal, journal.end)
    assert replies == [b"\x1b[1;3R"]
    screen.close()


def test_a_resize_reflows() -> None:
    screen = Screen(10, 5)
    journal = Journal()
    journal.append(b"0123456789abcde")
    screen.catch_up(journal, journal.end)
    screen.resize(20, 5)
    assert (screen.cols, screen.rows) == (20, 5)
    assert screen.text().startswith("0123456789abcde")
    screen.close()


def test_bytes_that_the_journal_has_dropped_are_left_out() -> None:
    journal = Journal(4096)
    screen = Screen(20, 3)
    journal.append(b"x" * 9000 + b"\r\nend")
    screen.catch_up(journal, journal.end)
    assert screen.fed == journal.end
    assert "end" in screen.text()
    screen.close()


@pytest.mark.parametrize("cols", [20, 80, 200, 250])
def test_it_keeps_the_stated_number_of_scrollback_rows_at_any_width(cols: int) -> None:
    screen = Screen(80, 24)
    screen.resize(cols, 24)
    screen.feed(b"y\r\n" * 30_000)
    kept = screen.emulator.get("scrollback_rows", "size_t")
    assert kept >= SCROLLBACK_LINES - 600
    assert screen.snapshot().count(b"y") <= SCROLLBACK_LINES + 24
    screen.close()


def test_the_widest_screen_keeps_its_scrollback_within_the_bound_in_bytes() -> None:
    screen = Screen(1000, 24)
    screen.feed(b"y\r\n" * 30_000)
    kept = screen.emulator.get("scrollback_rows", "size_t")
    assert 500 < kept * 1000 * 8 < SCROLLBACK_BYTES
    screen.close()


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
    journal, lazy = Journal(1 << 20), Screen(20, 5, scrollback=200)
    journal.append(before)
    lazy.catch_up(journal, journal.end)
    journal.append(b"\r\n".join(lines * 40_000)[:size])
    whole = before != b"\x1b[3"
    assert lazy.may_wait(journal, journal.end) is whole
    journal.append(after)
    assert lazy.may_wait(journal, journal.end) is (whole and b"\x1b[?" not in after)
    lazy.catch_up(journal, journal.end)
    assert_shows(lazy, journal)
    lazy.close()


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
    journal, lazy = Journal(1 << 20), Screen(20, 5, scrollback=200)
    for at in range(0, len(output), portion):
        journal.append(output[at : at + portion])
        if not lazy.may_wait(journal, journal.end, cut=True):
            lazy.catch_up(journal, journal.end)
        elif journal.end - lazy.fed > 4 * portion:
            lazy.skip(journal, journal.end)
    lazy.catch_up(journal, journal.end)
    assert_shows(lazy, journal)
    lazy.close()


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_text_that_is_skipped_between_parts_of_a_recording_does_not_change_snapshots(recording: Path) -> None:
    data, rng = recording.read_bytes(), random.Random(recording.name)
    cut = rng.randrange(len(data))
    flood = b"\r\n".join(rng.choice(STYLED[:-2]) for _ in range(20_000))
    output = data[:cut] + flood + data[cut:]
    journal, lazy = Journal(), Screen(20, 5, scrollback=200)
    at = 0
    while at < len(output):
        portion = rng.choice((1, 100, 5000, 90_000))
        journal.append(output[at : at + portion])
        at += portion
        if not lazy.may_wait(journal, journal.end, cut=True):
            lazy.catch_up(journal, journal.end)
        elif journal.end - lazy.fed > 300_000:
            lazy.skip(journal, journal.end)
    lazy.catch_up(journal, journal.end)
    assert_shows(lazy, journal)
    lazy.close()


def assert_shows(lazy: Screen, journal: Journal) -> None:
    """Assert that a screen that reads all bytes of `journal` has the same snapshot as `lazy`."""
    eager = Screen(20, 5, scrollback=200)
    for at in range(0, journal.end, 10_000):
        eager.catch_up(journal, min(at + 10_000, journal.end))
    assert repainted(lazy.snapshot()) == repainted(eager.snapshot())
    eager.close()


def repainted(snapshot: bytes) -> bytes:
    """Render a snapshot of the screen that `snapshot` paints.

    Two snapshots of the same screen can differ in their bytes, where libghostty's pages end.
    """
    screen = Screen(20, 5, scrollback=200)
    screen.feed(snapshot)
    painted = screen.snapshot()
    screen.close()
    return painted


@pytest.mark.parametrize(("line", "count"), [(b"y\r\n", 1_000_000), ("\x1b[32m✓\x1b[0m\r\n".encode(), 300_000)])
def test_the_emulator_does_not_read_most_of_a_flood_of_short_lines(
    monkeypatch: pytest.MonkeyPatch, line: bytes, count: int
) -> None:
    journal, screen = Journal(), Screen(80, 24)
    journal.append(line * count)
    assert screen.may_wait(journal, journal.end)
    fed = note_fed(monkeypatch)
    screen.catch_up(journal, journal.end)
    assert screen.fed == journal.end
    assert sum(fed) < journal.end // 10
    screen.close()


def test_skipping_does_not_use_the_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    journal, screen = Journal(), Screen(80, 24)
    journal.append(b"y\r\n" * 1_000_000)
    assert screen.may_wait(journal, journal.end)
    fed = note_fed(monkeypatch)
    screen.skip(journal, journal.end)
    assert journal.end - screen.fed < 100_000
    assert fed == []
    screen.close()


def test_text_that_ends_a_sequence_does_not_wait() -> None:
    replies: list[bytes] = []
    journal, screen = Journal(), Screen(80, 24, reply=replies.append)
    for data in (b"\x1b[", b"6", b"n"):
        journal.append(data)
        assert not screen.may_wait(journal, journal.end)
        screen.catch_up(journal, journal.end)
    assert replies == [b"\x1b[1;1R"]
    journal.append(b"plain")
    assert screen.may_wait(journal, journal.end)
    screen.close()


def test_the_state_of_a_long_sequence_is_not_read_after_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def unfinished(terminal: object) -> bytes:
        found = bytes(screen.fed)
        asked.append(len(found))
        return found

    monkeypatch.setattr("runtime.screen.screen.unfinished_sequence", unfinished)
    journal, screen = Journal(), Screen(80, 24)
    for piece in [b"\x1b]1337;File=:", *[b"QUJD" * 1024] * 500]:
        journal.append(piece)
        assert not screen.may_wait(journal, journal.end)
        screen.catch_up(journal, journal.end)
    assert sum(asked) < 20 * journal.end
    screen.close()


def note_fed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each `feed` of an emulator adds its number of bytes."""
    fed: list[int] = []
    feed = Emulator.feed

    def noted(emulator: Emulator, data: bytes) -> None:
        fed.append(len(data))
        feed(emulator, data)

    monkeypatch.setattr(Emulator, "feed", noted)
    return fed
