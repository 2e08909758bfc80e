import sys
import tracemalloc

import pytest
from hypothesis import example, given, strategies as st

from hawse.plain.output import PlainOutput

PIECES = [
    *(b"error: x", b"warning: disk full", b"abc", "é漢🚀".encode(), b"\xe6\xbc", b"\xff", "e\u0301\u0301".encode()),
    *(b"\r", b"\n", b"\r\n", b"\b", b"\t", b"\x07", b"\x1b", b"\x1b[", b"\x1b[3", b"\x1b\\", b"same\n" * 7),
    *(b"\x1b[K", b"\x1b[1K", b"\x1b[2K", b"\x1b[J", b"\x1b[2J", b"\x1b[2P", b"\x1b[3X", b"\x1bM", b"\x1bc"),
    *(b"\x1b[A", b"\x1b[3A", b"\x1b[B", b"\x1b[5C", b"\x1b[2D", b"\x1b[G", b"\x1b[H", b"\x1b[5;9H", b"\x1b[31m"),
    *(b"\x1b7", b"\x1b8", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b]0;title", b"\x1bP", b"\x1b(B", b"\x1b[?25l"),
    *(
        b"x" * 5000,
        b"\x1b[" + b"1" * 300,
        b"\n" * 150,
        "é\r\n\tb\n".encode() * 130,
        b"10%\n",
        b"20%\n",
        bytes(range(256)),
    ),
]
OUTPUT = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=8)), max_size=40).map(b"".join)


def output_of(*parts: bytes, head: int = 500, tail: int = 500, raw: bool = False) -> PlainOutput:
    output = PlainOutput(head, tail, raw=raw)
    for part in parts:
        output.add(part)
    return output


@pytest.mark.hypothesis
@given(OUTPUT, st.data(), st.sampled_from([0, 50, 1 << 20]), st.sampled_from([0, 50, 1 << 20]), st.booleans())
def test_the_text_does_not_depend_on_how_the_output_is_split(
    output: bytes, data: st.DataObject, head: int, tail: int, raw: bool
) -> None:
    whole = output_of(output, head=head, tail=tail, raw=raw)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(output)), max_size=10)))
    parts = [output[start:end] for start, end in zip([0, *cuts], [*cuts, len(output)], strict=True)]
    for split in (parts, [output[at : at + 1] for at in range(len(output))]):
        other = output_of(*split, head=head, tail=tail, raw=raw)
        assert other.text() == whole.text()
        assert (other.start, other.stop, other.size) == (whole.start, whole.stop, whole.size)


@pytest.mark.hypothesis
@given(OUTPUT, st.integers(0, 300), st.integers(0, 300))
@example(b"\xc2\x00\x9b", 0, 3)
@example(b"\xc2\x1b[m\x9b", 300, 300)
def test_the_text_is_bounded_and_has_no_control_characters(output: bytes, head: int, tail: int) -> None:
    text = output_of(output, head=head, tail=tail).text()
    assert len(text.encode()) <= 3 * (head + tail) + 200  # each invalid byte is three bytes as U+FFFD
    assert not any((char < " " and char not in "\n\t") or "\x7f" <= char < "\xa0" for char in text)


@pytest.mark.hypothesis
@given(OUTPUT, st.integers(0, 40))
def test_errors_are_kept_between_all_kinds_of_output(noise: bytes, at: int) -> None:
    error = b"\nerror: the disk is on fire\n"
    output = noise[:at] + b"\x18\x1b8\x1b[?1049l" + error + noise[at:]
    assert "error: the disk is on fire" in output_of(output, head=100, tail=1 << 14).text()


@pytest.mark.hypothesis
@given(OUTPUT)
def test_raw_output_is_not_changed(output: bytes) -> None:
    assert output_of(output, head=1 << 20, raw=True).text() == output.decode(errors="replace")


BOUNDED = [b"x" * 50, b"\x1b]" + b"t" * 50, b"\x1b[1;", b"error %d\r", b"\n", b"\xff", b"\t"]


@pytest.mark.parametrize(("piece", "raw"), [*((piece, False) for piece in BOUNDED), (b"x" * 50, True), (b"\n", True)])
def test_the_memory_is_bounded(piece: bytes, raw: bool) -> None:
    output = PlainOutput(1000, 1000, raw=raw)
    data = piece * 2000
    output.add(data)
    tracemalloc.start()
    try:
        for _ in range(20):
            output.add(data)
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 400_000
    assert len(output.text()) < 7000


@pytest.mark.parametrize("piece", [b"\x1b[99H\x1b[2J", b"\x1b[99H\x1b[H\x1b[J", b"\x1b[?1049h\x1b[99H\x1b[?1049l"])
def test_the_work_for_erased_rows_without_text_is_bounded(piece: bytes) -> None:
    output, calls = PlainOutput(1000, 1000), 0

    def count(_frame: object, event: str, _value: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        output.add(piece * 100)
    finally:
        sys.setprofile(None)
    assert calls < 300 * 100  # at most 3 for each row of the screen


def test_text_can_be_read_before_the_end() -> None:
    output = output_of(b"one\n 50%")
    assert (output.text(), output.latest) == ("one\n 50%", "50%")
    output.add(b"\r100%\n")
    output.finish()
    assert output.text() == "one\n100%\n"


def test_the_omitted_bytes_have_offsets() -> None:
    output = PlainOutput(16, 16, offset=1000)
    assert (output.start, output.stop) == (None, 1000)
    for n in range(100):
        output.add(b"\x1b[3%dmline %02d\x1b[0m\r\n" % (n % 7, n))
    output.finish()
    assert output.text("from {start}") == (
        "line 00\nline 01\n[1,728 bytes are omitted here: from 1036]\nline 98\nline 99\n"
    )
    assert (output.start, output.stop) == (1036, 1000 + 98 * 18)


def test_a_character_that_is_not_complete_is_shown_as_invalid() -> None:
    assert output_of(b"a\xe6\xbc").text() == "a\ufffd"
