"""Lines and bytes of one stream, in any order."""

import random
from collections.abc import Iterable

import pytest

from hawse.client.calls.line_reader import LineReader


def reader(parts: Iterable[bytes], **options: int) -> LineReader:
    rest = iter(parts)

    async def receive() -> bytes:
        for part in rest:
            return part
        raise StopAsyncIteration

    return LineReader(receive, **options)


async def lines(reader: LineReader) -> list[str]:
    return [line async for line in reader.lines("utf-8", "replace")]


@pytest.mark.parametrize("seed", range(20))
async def test_lines_are_the_same_wherever_the_stream_is_cut(seed: int) -> None:
    dice = random.Random(seed)
    text = "".join(dice.choice(["a", "ä", "\n", "\r\n", "\r", "€"]) for _ in range(200))
    data = text.encode()
    cuts = sorted(dice.randrange(len(data)) for _ in range(30))
    parts = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    expected = text.replace("\r\n", "\n").split("\n")
    assert await lines(reader(parts)) == (expected if expected[-1] else expected[:-1])


async def test_bytes_after_a_line_are_read_by_whatever_reads_next() -> None:
    stream = reader([b"one\ntwo\nthr", b"ee\nrest"])
    async for line in stream.lines("utf-8", "strict"):
        assert line == "one"
        break
    assert await stream.read() == b"two\nthr"
    assert await lines(stream) == ["ee", "rest"]


async def test_a_long_line_is_returned_in_parts_and_never_held_whole() -> None:
    stream = reader([b"x" * 7] * 5 + [b"\ny"], limit=10)
    assert await lines(stream) == ["x" * 10, "x" * 10, "x" * 10, "x" * 5, "y"]


async def test_bytes_that_are_not_valid_are_replaced() -> None:
    assert await lines(reader([b"a\xff\n"])) == ["a�"]
