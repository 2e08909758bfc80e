"""The cursors that libghostty shows nowhere else are read from its encoded terminal."""

import struct

import pytest

from hawse_runtime.screen.emulator.encoded_screens import ALTERNATE, PRIMARY, EncodedScreen, Place, encoded_screens
from hawse_runtime.screen.emulator.ghostty import cloned, handle
from hawse_runtime.screen.emulator.screen import Screen


@pytest.mark.parametrize(
    ("written", "cursor", "saved"),
    [
        (b"ab", Place(2, 0, pending_wrap=False), None),
        (b"\x1b7ab", Place(2, 0, pending_wrap=False), Place(0, 0, pending_wrap=False)),
        (b"abcdefghij\x1b7", Place(9, 0, pending_wrap=True), Place(9, 0, pending_wrap=True)),
        (b"\r\na\x1b7\x1b]0;unfin", Place(1, 1, pending_wrap=False), Place(1, 1, pending_wrap=False)),
    ],
)
def test_the_cursor_and_the_saved_one_are_read(written: bytes, cursor: Place, saved: Place | None) -> None:
    screen = Screen(10, 5)
    screen.feed(written)
    with cloned(handle(screen.emulator), scrollback=0) as (_, screens):
        assert screens == {PRIMARY: EncodedScreen(cursor, saved)}
    screen.close()


def test_the_hidden_screen_has_its_own_cursor() -> None:
    screen = Screen(10, 5)
    screen.feed(b"ab\x1b[?1047h\x1b[3;5H\x1b7")
    with cloned(handle(screen.emulator), scrollback=0) as (_, screens):
        assert screens[PRIMARY] == (Place(2, 0, pending_wrap=False), None)
        assert screens[ALTERNATE] == (Place(4, 2, pending_wrap=False), Place(4, 2, pending_wrap=False))
    screen.close()


def test_a_terminal_that_is_cut_is_refused() -> None:
    with pytest.raises(struct.error):
        encoded_screens(b"GHOSTSNP\x01\x00\x02\x00")
