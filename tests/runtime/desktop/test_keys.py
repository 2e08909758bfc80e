"""Names of keys, and the keys that type characters."""

import pytest

from hawse.wire import HawseError
from hawse_runtime.desktop.keys import keysym_of, parse_keys


@pytest.mark.parametrize(
    ("character", "keysym"),
    [("a", 0x61), ("~", 0x7E), ("ü", 0xFC), ("€", 0x10020AC), ("世", 0x1004E16), ("🙂", 0x101F642), ("\n", 0xFF0D)],
)
def test_a_character_has_a_key(character: str, keysym: int) -> None:
    assert keysym_of(character) == keysym


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x7f", "\x85", "\ud800"])
def test_a_control_character_cannot_be_typed(character: str) -> None:
    with pytest.raises(HawseError, match="cannot be typed"):
        keysym_of(character)


@pytest.mark.parametrize(
    ("names", "keysyms"),
    [
        ("Return", [0xFF0D]),
        ("ctrl+shift+t", [0xFFE3, 0xFFE1, 0x74]),
        ("Control_L + Alt + Delete", [0xFFE3, 0xFFE9, 0xFFFF]),
        ("ctrl+plus", [0xFFE3, 0x2B]),
        ("F12", [0xFFC9]),
        ("ArrowUp", [0xFF52]),
        (" ", [0x20]),
    ],
)
def test_names_are_keys_in_their_order(names: str, keysyms: list[int]) -> None:
    assert parse_keys(names) == keysyms


@pytest.mark.parametrize("names", ["nothing", "ctrl+", "+", "ctrl++", "+".join("abcdefghi")])
def test_an_unknown_name_and_too_many_keys_are_refused(names: str) -> None:
    with pytest.raises(HawseError) as refused:
        parse_keys(names)
    assert refused.value.code == "invalid_params"
