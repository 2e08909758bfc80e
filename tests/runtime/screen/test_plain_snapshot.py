"""Snapshots that are made without an emulator."""

from hawse_runtime.screen.emulator.screen import Screen
from hawse_runtime.screen.plain_snapshot import plain_lines, plain_snapshot


def test_it_contains_the_last_lines_without_sequences() -> None:
    output = (
        b"gone\r\n\x1b]0;title\x07\x1b[1;31mred\x1b[m text\r\n10 %\r20 %\r\n\xe2\x9c\x93 \x1bP1$r\x1b\\\x00end\x1b[3"
    )
    assert plain_lines(output, 3) == [b"red text", b"20 %", "✓ end".encode()]
    screen = Screen(20, 3)
    screen.feed(plain_snapshot(output, 3))
    assert screen.text().split() == ["red", "text", "20", "%", "✓", "end"]
    screen.close()


def test_it_does_not_take_long_for_hostile_output() -> None:
    for hostile in (b"\x1b]" * 500_000, b"\x1b[" + b"0;" * 500_000, b"\x1b" * 1_000_000, b"\r" * 1_000_000):
        assert len(plain_snapshot(hostile, 6000)) < 1_000_000
