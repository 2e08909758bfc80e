"""Text out of output, and matches in it: where they stand, and how much work and memory they take."""

import re
import time

import pytest
from hypothesis import given, strategies as st

from hawse.wire import HawseError
from hawse_runtime.core.output_matcher import CARRY, GROUP_LIMIT, WINDOW, Matcher, MatchSpan, Stripper

PIECES = st.sampled_from(
    [
        b"\x1b",
        b"[",
        b"31",
        b"m",
        b"]0;t",
        b"\x07",
        b"\\",
        b"P",
        b"\r",
        b"\n",
        b"ab",
        b"\xc3\xa4",
        b"\x18",
        b"(",
        b"B",
        b"\x08",
    ]
)


def strip(*pieces: bytes) -> bytes:
    stripper, offset, text = Stripper(), 0, b""
    for piece in pieces:
        text += b"".join(part for part, _ in stripper.feed(offset, piece))
        offset += len(piece)
    return text


def find(pattern: str, *pieces: bytes, literal: bool = False) -> MatchSpan | None:
    matcher, offset = Matcher(pattern, literal=literal), 0
    for piece in pieces:
        if matcher.feed(offset, piece) and (found := matcher.search()):
            return found
        offset += len(piece)
    return None


def test_escape_sequences_and_controls_are_no_text() -> None:
    output = b"\x1b[1;31mred\x1b[0m\x1b]0;title\x07 \x1b]8;;http://x\x1b\\link\x1bP1$r0m\x1b\\\x1b(B\x1b=\x07!\r\n\x1b[?25h\tend\r\r\n"
    assert strip(output) == b"red link!\n\tend\n"


def test_a_single_carriage_return_is_kept() -> None:
    assert strip(b"10%\r20%\r\r\r30%\r\n") == b"10%\r20%\r30%\n"


def test_text_continues_after_a_cancelled_string() -> None:
    assert strip(b"\x1b]0;t\x18a\x1b]0;t\x1b[mb\x1bPx\x1ac") == b"abc"


@given(st.lists(PIECES, max_size=30), st.data())
def test_however_the_output_is_cut_the_text_and_its_offsets_are_the_same(
    pieces: list[bytes], data: st.DataObject
) -> None:
    whole = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=10)))

    def places(*parts: bytes) -> list[tuple[int, int]]:
        stripper, offset, found = Stripper(), 0, []
        for part in parts:
            for text, at in stripper.feed(offset, part):
                found += [(byte, at + n) for n, byte in enumerate(text)]
            offset += len(part)
        return found

    assert places(*(whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True))) == places(whole)


def test_a_string_without_end_is_not_kept() -> None:
    stripper = Stripper()
    stripper.feed(0, b"\x1b]52;")
    for n in range(100):
        assert stripper.feed(5 + n * 10_000, b"x" * 10_000) == []
        assert stripper.held <= CARRY
    assert stripper.feed(1_000_005, b"\x07text") == [(b"text", 1_000_006)]


def test_a_match_has_its_offsets_in_the_output() -> None:
    output = b"a \x1b[1mwarn\x1b[0ming: 4\x1b[m2\r\nrest"
    found = find(r"(?P<kind>\w+): (\d+)$", output)
    assert found is not None
    assert (found.text, found.groups, found.named) == ("warning: 42", ["warning", "42"], {"kind": "warning"})
    assert output[found.start :].startswith(b"warn\x1b[0m")
    assert output[found.end :] == b"\r\nrest"
    assert not found.truncated


def test_a_match_can_span_pieces_and_a_group_can_have_no_match() -> None:
    found = find("(x)?hello wörld", b"hel", b"lo w\xc3", b"\xb6r\x1b[1mld")
    assert found is not None
    assert (found.text, found.groups) == ("hello wörld", [None])


def test_a_literal_is_no_pattern() -> None:
    assert find("a.b(", b"a.b(", literal=True) is not None
    assert find("a.b(", b"axb(", literal=True) is None


def test_the_beginning_of_the_kept_text_is_not_the_beginning_of_a_line() -> None:
    assert find("^x", b"a" * 10, *[b"x" * 5000] * 100) is None
    assert find("^y", *[b"x" * 5000] * 100, b"\r\ny") is not None


@pytest.mark.parametrize("pattern", ["(", "[a", "(?<=a)b", r"(a)\1", "a{2000}"])
def test_an_invalid_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(HawseError) as caught:
        Matcher(pattern)
    assert caught.value.code == "invalid_params"
    assert caught.value.details == {"path": "$.pattern"}


@pytest.mark.parametrize("pattern", ["(((((.?){5}){5}){5}){5})q", "()" * 40, r"\pL{0,900}"])
def test_a_pattern_of_too_much_work_is_refused(pattern: str) -> None:
    with pytest.raises(HawseError) as caught:
        Matcher(pattern)
    assert caught.value.code in ("too_large", "invalid_params")


def test_patterns_that_backtrack_elsewhere_take_linear_time() -> None:
    pattern, line = "(x+x+)+y", b"x" * 5_000
    began = time.process_time()
    assert find(pattern, *[line] * 200) is None
    assert time.process_time() - began < 5
    assert re.search(pattern, "x" * 10) is None  # the same pattern would not end on the whole line


def test_100_mb_on_one_line_take_bounded_memory() -> None:
    matcher, block = Matcher("needle"), b"hay" * 20_000 + b"\x1b[m"
    offset = 0
    for _ in range(1_700):
        matcher.feed(offset, block)
        offset += len(block)
        assert matcher.size <= 2 * WINDOW + len(block)
    assert offset > 100_000_000
    assert matcher.search() is None
    matcher.feed(offset, b"nee\x1b[1mdle")
    found = matcher.search()
    assert found is not None
    assert (found.start, found.end) == (offset, offset + 10)


def test_a_long_match_is_cut_and_marked_as_truncated() -> None:
    found = find("(a+)b", b"a" * 10_000 + b"b")
    assert found is not None
    assert (len(found.text), len(found.groups[0] or ""), found.truncated) == (GROUP_LIMIT, GROUP_LIMIT, True)
    assert found.end == 10_001


def test_after_a_gap_nothing_is_joined() -> None:
    matcher = Matcher("ab")
    matcher.feed(0, b"a")
    matcher.restart()
    matcher.feed(100, b"b")
    assert matcher.search() is None


def test_a_match_in_another_text_has_the_given_offset() -> None:
    found = Matcher("b").search_in("abc", 77)
    assert found is not None
    assert (found.start, found.end) == (77, 77)


def test_a_line_begins_where_a_cr_changes_nothing() -> None:
    """Bash prints CR LF, an escape sequence and CR between a command line and the first output."""
    for cut in range(20):
        data = b"$ cmd\r\n\x1b[?2004l\rout\r\n"
        matcher = Matcher("^out$")
        matcher.feed(0, data[:cut])
        matcher.feed(cut, data[cut:])
        assert matcher.search() is not None
    matcher = Matcher("^20%")
    matcher.feed(0, b"10%\r20%")
    assert matcher.search() is None, "that is another line's beginning only on a screen"


def test_hidden_parts_are_not_searched_and_offsets_stay_right() -> None:
    matcher = Matcher("l+o|>[0-9]", hidden=lambda start, end: [(2, 7), (13, 15)])
    assert matcher.feed(0, b"> hello")
    assert matcher.search() is None
    assert matcher.feed(7, b"\r\n42llxx")
    assert not matcher.search()
    assert matcher.feed(15, b"\x1b[1mllo")
    found = matcher.search()
    assert found is not None
    assert (found.text, found.start, found.end) == ("llllo", 11, 22)
