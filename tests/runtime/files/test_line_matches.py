"""Lines that match have their numbers and spans, for blocks of any size."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from hawse_runtime.core.output_matcher import compile_pattern
from hawse_runtime.files.line_matches import lines_with, search_match


def found(data: bytes, pattern: str, **sizes: int) -> Iterator[tuple[int, bytes, list[tuple[int, int]]]]:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        fd = os.open(file.name, os.O_RDONLY)
        try:
            yield from (line for line in lines_with(compile_pattern(pattern), fd, **sizes) if line is not None)
        finally:
            os.close(fd)


patterns = st.sampled_from(["a", "^b", "a$", "b+", "x*", r"\s+a", "(a\n)?b"])


@given(st.lists(st.text(alphabet="ab \r", max_size=6)), patterns)
@settings(deadline=None, max_examples=100)
def test_it_finds_the_same_as_a_search_of_each_line(lines: list[str], pattern: str) -> None:
    data = "\n".join(lines).encode()
    regexp = compile_pattern(pattern)
    texts = data.split(b"\n") if data else []
    if texts and texts[-1] == b"":
        texts.pop()
    expected = [
        (number, line.removesuffix(b"\r"), [match.span() for match in regexp.finditer(line)])
        for number, line in enumerate(texts, 1)
        if regexp.search(line)
    ]
    assert list(found(data, pattern)) == expected


@pytest.mark.parametrize("block", [1, 7, 64])
def test_the_size_of_blocks_has_no_effect(block: int) -> None:
    data = b"".join(b"line %d\n" % number for number in range(100))
    lines = list(found(data, "[0-9]7", block=block))
    assert [number for number, _, _ in lines] == [18, 28, 38, 48, 58, 68, 78, 88, 98]
    assert lines[0] == (18, b"line 17", [(5, 7)])


def test_a_line_without_an_end_costs_bounded_memory() -> None:
    pieces = list(found(b"x" * 20_000, "x", block=1000, line_limit=5000))
    assert sum(len(text) for _, text, _ in pieces) == 20_000
    assert max(len(text) for _, text, _ in pieces) <= 6000


def test_a_binary_file_has_no_lines() -> None:
    assert list(found(b"a\n\0a\n", "a")) == []


def test_a_result_has_spans_in_characters_and_is_cut() -> None:
    match = search_match("d/f", (3, "wörld x".encode() + b"\xff x", [(7, 8), (10, 11)]))
    assert (match.path, match.line, match.text, match.spans) == ("d/f", 3, "wörld x� x", [(6, 7), (9, 10)])
    long = search_match("f", (1, b"a" * 5000, [(n, n + 1) for n in range(5000)]))
    assert long.truncated
    assert (len(long.text or ""), len(long.spans)) == (2000, 100)
