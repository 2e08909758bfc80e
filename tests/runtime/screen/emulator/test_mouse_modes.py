"""The mouse events that a snapshot asks for are those that were asked for last."""

import pytest

from hawse_runtime.screen.emulator.ghostty import handle
from hawse_runtime.screen.emulator.mouse_modes import mouse_modes
from hawse_runtime.screen.emulator.screen import Screen


@pytest.mark.parametrize(
    ("written", "active"),
    [
        (b"", b""),
        (b"\x1b[?9h", b"\x1b[?9h"),
        (b"\x1b[?1000h", b"\x1b[?1000h"),
        (b"\x1b[?1003h\x1b[?9h", b"\x1b[?9h"),
        (b"\x1b[?1002h\x1b[?1000h", b"\x1b[?1000h"),
        (b"\x1b[?9h\x1b[?1000l", b""),
        (b"\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1002l", b""),
        (b"\x1b[?1003h\x1b[?1006h", b"\x1b[?1003h\x1b[?1006h"),
        (b"\x1b[?1016h\x1b[?1006h", b"\x1b[?1006h"),
        (b"\x1b[?1002;1016h", b"\x1b[?1002h\x1b[?1016h"),
        (b"\x1b[?1000h\x1b[?1015h", b"\x1b[?1000h\x1b[?1015h"),
        (b"\x1b[?1000h\x1b[?1006h\x1b[?1006l", b"\x1b[?1000h"),
    ],
)
def test_the_protocol_and_the_encoding_that_were_set_last_are_active(written: bytes, active: bytes) -> None:
    screen = Screen(10, 5)
    screen.feed(written)
    assert mouse_modes(handle(screen.emulator)) == active
    screen.close()


def test_a_snapshot_sets_the_mouse_modes_that_are_active() -> None:
    screen = Screen(10, 5)
    screen.feed(b"\x1b[?1003h\x1b[?9h\x1b[?1006h")
    painted = Screen(10, 5)
    painted.feed(screen.snapshot())
    assert mouse_modes(handle(painted.emulator)) == b"\x1b[?9h\x1b[?1006h"
    for each in (screen, painted):
        each.close()
