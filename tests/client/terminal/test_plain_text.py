"""Lines of a terminal as text."""

import pytest

from hawse.client.terminal.plain_text import plain


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x07", b"red link"),
        (b"\x1b]133;C\x07out\x1b(B\x1b=\x1bP1$r0m\x1b\\!", b"out!"),
        (b"\r10%\r20%", b"10%\r20%"),
        ("\ttö\b\x7f".encode(), "\ttö".encode()),
        (b"cut \x1b[3", b"cut 3"),
    ],
)
def test_escape_sequences_and_controls_are_left_out(line: bytes, text: bytes) -> None:
    assert plain(line) == text
