"""The screen follows the journal, answers queries, and never stops within a character."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.journal import Journal
from runtime.screen import SCROLLBACK_BYTES, SCROLLBACK_LINES, Screen, unfinished


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
