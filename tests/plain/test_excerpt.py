import pytest
from hypothesis import given, strategies as st

from hawse.plain.excerpt import Excerpt, excerpt
from hawse.plain.lines import Line


def excerpt_of(lines: list[str], head: int, tail: int, *, alerts: bool = False) -> Excerpt:
    kept, at = Excerpt(head, tail, alerts=alerts), 0
    for line in lines:
        kept.add(Line(line, at, at := at + len(line.encode()) + 1))
    return kept


def test_a_short_output_is_kept_whole() -> None:
    assert excerpt("all of it", 100) == "all of it"
    kept = excerpt_of(["123", "456", "789"], 6, 6)
    assert (kept.text(), kept.start) == ("123\n456\n789\n", None)


def test_the_first_and_last_lines_of_a_long_output_are_kept() -> None:
    kept = excerpt_of([f"{n:03}" for n in range(1000)], 8, 8)
    assert kept.text(hint="read from {start}") == ("000\n001\n[3,984 bytes are omitted here: read from 8]\n998\n999\n")
    assert (kept.start, kept.stop) == (8, 3992)
    assert kept.text(note=False) == "000\n001\n998\n999\n"


def test_only_the_first_lines_are_kept_without_space_for_the_last() -> None:
    kept = excerpt_of(["a" * 8, "b" * 3, "c" * 30, "d"], 20, 0)
    assert (kept.text(note=False), kept.start, kept.stop) == ("aaaaaaaa\nbbb\n", 13, 46)
    kept = excerpt_of(["a" * 8, "b" * 30, "c"], 20, 0)
    assert (kept.text(note=False), kept.start, kept.stop) == ("aaaaaaaa\nbbbbbbbbbbb", 20, 42)


def test_a_long_line_is_cut_where_less_than_half_would_be_used() -> None:
    assert excerpt_of(["x" * 30 + "y" * 30], 10, 10).text() == ("xxxxxxxxxx\n[41 bytes are omitted here]\nyyyyyyyyy\n")
    assert excerpt_of(["a" * 8, "b" * 30, "c" * 8], 10, 10).text() == (
        "aaaaaaaa\n[31 bytes are omitted here]\ncccccccc\n"
    )


def test_omitted_errors_are_shown_once_and_leave_room() -> None:
    lines = [f"line {n:03}" for n in range(100)]
    lines[40] = "error: first"
    lines[41] = "error: second"
    lines[50:60] = ["warning 1"] * 10
    text = excerpt_of(lines, 40, 200, alerts=True).text()
    assert "[omitted lines with errors or warnings:]\nerror: first\nerror: second\nwarning 1\n[…]\nline" in text
    assert len(text) < 240 + 100
    many = excerpt_of([f"error {chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(500)], 40, 200, alerts=True)
    assert "[omitted lines with errors or warnings, and 4" in many.text()


@pytest.mark.hypothesis
@given(st.lists(st.text("aé漢\n", max_size=20)), st.integers(0, 60), st.integers(0, 60), st.booleans())
def test_the_lines_kept_are_the_first_and_the_last(lines: list[str], head: int, tail: int, alerts: bool) -> None:
    kept = excerpt_of([line.replace("\n", "") for line in lines], head, tail, alerts=alerts)
    whole = "".join(line.replace("\n", "") + "\n" for line in lines).encode()
    text = kept.text(note=False).encode()
    assert len(text) <= head + tail
    assert (kept.start is None) == (len(whole) <= head + tail)
    first = len(whole) if kept.start is None else kept.start
    assert text == whole[:first] + (b"" if kept.start is None else whole[kept.stop :])


@pytest.mark.parametrize("limit", range(10, 22))
def test_no_character_is_cut(limit: int) -> None:
    assert "\ufffd" not in excerpt("é€🚀" * 20, limit)


def test_a_copy_with_further_lines_does_not_change_the_excerpt() -> None:
    kept = excerpt_of(["1", "2"], 2, 2)
    assert kept.text([Line("3", 4, 6)]) == "1\n[2 bytes are omitted here]\n3\n"
    assert kept.text() == "1\n2\n"
