"""Which text only scrolls, which part of it may be skipped, and which style remains."""

import pytest
from hypothesis import given, strategies as st

from hawse_runtime.screen.scrolling_text import (
    COUNTED,
    ENTRIES,
    LONGEST_CUT,
    NEAR,
    LineCounts,
    cut_sequence,
    pen,
    scrolling_lines,
)


def only_scrolls(data: bytes) -> bool:
    return scrolling_lines(data) is not None


def test_plain_text_contains_only_line_ends_tabs_and_bells_as_control_characters() -> None:
    assert only_scrolls(b"a line, a tab\t and a bell\a\r\n ~")
    for byte in (*range(7), 8, 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F):
        assert not only_scrolls(b"ab" + bytes([byte]) + b"cd")


def test_printable_utf_8_only_scrolls() -> None:
    text = "é ✓ 日本 e\u0301 ❤\ufe0f 👩‍👩‍👧 \u00a0\u00ad".encode()
    for cut in range(len(text) + 1):
        assert only_scrolls(text[:cut])
        assert only_scrolls(text[cut:])


@pytest.mark.parametrize("code", range(0x80, 0xA0))
def test_control_characters_in_utf_8_have_to_be_read(code: int) -> None:
    encoded = chr(code).encode()
    assert not only_scrolls(b"ab" + encoded + b"cd")
    assert scrolling_lines(encoded[1:] + b"cd", encoded[:1]) is None


def test_the_lines_of_text_are_counted() -> None:
    assert scrolling_lines(b"one\r\n\x1b[1mtwo\x1b[0m\n\nfour") == 3
    assert scrolling_lines(b"", b"\xc2") == 0


@pytest.mark.parametrize("sequence", ["[m", "[0m", "[1;31m", "[38:2::1:2:3m", "[4:3;58;5;9m", "[K", "[2K", "[1G"])
def test_sequences_that_style_text_or_stay_in_a_row_only_scroll(sequence: str) -> None:
    assert only_scrolls(f"a\x1b{sequence}b".encode())


@pytest.mark.parametrize(
    "sequence",
    ["", "[", "[31", "[6n", "[c", "[A", "[2J", "[>4;2m", "[?4m", "[?2K", "[1 m", "[?25l", "[2;4r", "]0;title\a", "(0",
     "7", "c", "P$qm\x1b\\"],
)  # fmt: skip
def test_other_sequences_have_to_be_read(sequence: str) -> None:
    assert not only_scrolls(f"a\x1b{sequence}é".encode())
    assert not only_scrolls(f"a\x1b[1m\x1b{sequence}".encode())


@pytest.mark.parametrize("rest", [b"\x1b", b"\x1b[", b"\x1b[3", b"\x1b[38;2;1:2"])
def test_an_unfinished_style_is_found_at_the_end(rest: bytes) -> None:
    for before in (b"", b"text", b"\x1b[1m"):
        assert cut_sequence(before + rest) == len(rest)


@pytest.mark.parametrize("data", [b"", b"text", b"\x1b[1m", b"\x1b[?2", b"\x1b]0;1", b"\x1b[" + b"1;" * LONGEST_CUT])
def test_whole_and_other_sequences_are_not_an_unfinished_style(data: bytes) -> None:
    assert cut_sequence(data) == 0


@given(st.lists(st.binary(max_size=3000).map(lambda part: part * 20), max_size=30), st.integers(0, 300), st.data())
def test_more_lines_than_asked_for_follow_the_offset(parts: list[bytes], lines: int, draw: st.DataObject) -> None:
    counts, text = LineCounts(), b""
    for part in parts:
        text += part
        counts.add(len(text), part.count(b"\n"))
    first = draw.draw(st.integers(0, len(text)))
    last = draw.draw(st.integers(first, len(text)))
    at = counts.before(lines, first, last)
    assert first <= at <= last
    assert at == first or text.count(b"\n", at, last) > lines


def test_most_of_many_short_lines_is_before_the_last_ones() -> None:
    counts = LineCounts()
    for end in range(3, 900_000, 3):
        counts.add(end, 1)
    assert 900_000 - counts.before(1000, 0, 900_000) < 3000 + 3 * COUNTED


def test_the_counts_are_bounded_and_the_oldest_are_forgotten() -> None:
    counts = LineCounts()
    for number in range(1, 10 * ENTRIES):
        counts.add(number * COUNTED, 1)
    end = (10 * ENTRIES - 1) * COUNTED
    assert counts.before(10, 0, end) == end - 11 * COUNTED
    assert counts.before(2 * ENTRIES, 0, end) == 0


@pytest.mark.parametrize("reset", [b"\x1b[0m", b"\x1b[m"])
@pytest.mark.parametrize("distance", [10, 2 * NEAR])
def test_the_pen_is_every_style_since_the_last_reset(reset: bytes, distance: int) -> None:
    data = b"\x1b[1mbold" + reset + b"\x1b[31mred\x1b[K" + b"x" * distance + b"\x1b[4munder\x1b[2G"
    assert pen(data) == reset + b"\x1b[31m\x1b[4m"


def test_the_pen_without_a_reset_is_every_style() -> None:
    assert pen(b"\x1b[1mbold\x1b[0;31mred\x1b[K") == b"\x1b[1m\x1b[0;31m"
    assert pen(b"plain") == b""
