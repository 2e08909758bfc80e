"""The screen follows the journal, answers queries, and never stops within a character."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from runtime.journal.journal import Journal
from runtime.screen.screen import SCROLLBACK_BYTES, SCROLLBACK_LINES, Screen, unfinished


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
def test_what_is_no_beginning_of_a_character_is_let_through(data: bytes) -> None:
    assert unfinished(data) == 0


def test_it_reads_up_to_where_it_is_told_in_pieces_of_any_size() -> None:
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


def test_bytes_that_the_journal_lost_are_left_out() -> None:
    journal = Journal(4096)
    screen = Screen(20, 3)
    journal.append(b"x" * 9000 + b"\r\nend")
    screen.catch_up(journal, journal.end)
    assert screen.fed == journal.end
    assert "end" in screen.text()
    screen.close()


@pytest.mark.parametrize("cols", [20, 80, 200, 250])
def test_it_keeps_as_many_rows_of_scrollback_as_it_says_whatever_their_width(cols: int) -> None:
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


@pytest.mark.parametrize("before", BEFORE)
@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=6),
    size=st.integers(300_000, 600_000),
    after=st.sampled_from([b"", b"$ ", b"\x1b[1mend"]),
)
@settings(max_examples=10, deadline=None)
def test_plain_text_that_is_skipped_leaves_no_trace(before: bytes, lines: list[bytes], size: int, after: bytes) -> None:
    journal, lazy = Journal(1 << 20), Screen(20, 5, scrollback=200)
    journal.append(before)
    lazy.catch_up(journal, journal.end)
    journal.append(b"\r\n".join(lines * 40_000)[:size])
    whole = before != b"\x1b[3"
    assert lazy.may_wait(journal, journal.end) is whole
    journal.append(after)
    assert lazy.may_wait(journal, journal.end) is (whole and b"\x1b" not in after)
    lazy.catch_up(journal, journal.end)
    eager = Screen(20, 5, scrollback=200)
    for at in range(0, journal.end, 10_000):
        eager.catch_up(journal, min(at + 10_000, journal.end))
    assert repainted(lazy.snapshot()) == repainted(eager.snapshot())
    lazy.close()
    eager.close()


def repainted(snapshot: bytes) -> bytes:
    """What a snapshot paints; two may say it differently, where libghostty's pages end."""
    screen = Screen(20, 5, scrollback=200)
    screen.feed(snapshot)
    painted = screen.snapshot()
    screen.close()
    return painted


def test_most_of_a_flood_of_short_lines_is_not_read_by_the_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    journal, screen = Journal(), Screen(80, 24)
    journal.append(b"y\r\n" * 1_000_000)
    assert screen.may_wait(journal, journal.end)
    fed: list[int] = []
    emulator = screen._emulator
    monkeypatch.setattr(screen, "_emulator", Spy(emulator, fed))
    screen.catch_up(journal, journal.end)
    assert screen.fed == journal.end
    assert sum(fed) < 100_000
    emulator.close()


def test_what_is_skipped_needs_no_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    journal, screen = Journal(), Screen(80, 24)
    journal.append(b"y\r\n" * 1_000_000)
    assert screen.may_wait(journal, journal.end)
    fed: list[int] = []
    emulator = screen._emulator
    monkeypatch.setattr(screen, "_emulator", Spy(emulator, fed))
    screen.skip(journal, journal.end)
    assert journal.end - screen.fed < 100_000
    assert fed == []
    emulator.close()


def test_plain_text_that_ends_a_sequence_does_not_wait() -> None:
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


def test_how_a_long_sequence_goes_on_is_not_asked_for_every_piece_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
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


class Spy:
    """An emulator that notes how much it is fed."""

    def __init__(self, emulator: Any, fed: list[int]) -> None:
        self._emulator = emulator
        self._fed = fed

    def feed(self, data: bytes) -> None:
        self._fed.append(len(data))
        self._emulator.feed(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._emulator, name)
