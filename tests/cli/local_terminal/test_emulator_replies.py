import pytest

from hawse.cli.local_terminal.emulator_replies import without_replies


@pytest.mark.parametrize(
    "reply",
    [
        b"\x1b[?62;4;22c",  # DA1
        b"\x1b[>41;354;0c",  # DA2
        b"\x1b[24;80R",  # CPR
        b"\x1b[?24;80;1R",  # DECXCPR
        b"\x1b[0n",  # DSR
        b"\x1b[?2026;2$y",  # DECRPM
        b"\x1b[?1u",  # kitty
        b"\x1b[8;24;80t",  # XTWINOPS
        b"\x1bP>|xterm(388)\x1b\\",  # XTVERSION
        b"\x1bP1$r0m\x1b\\",  # DECRQSS
        b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
        b"\x1b]4;1;rgb:cdcd/0000/0000\x07",
    ],
)
def test_answers_are_removed_and_what_surrounds_them_stays(reply: bytes) -> None:
    assert without_replies(b"a" + reply + b"b") == b"ab"


@pytest.mark.parametrize(
    "keys",
    [
        b"plain text",
        b"\x1b",  # Esc
        b"\x1b[A\x1bOP\x1b[15~\x1b[1;5C",  # arrows and function keys
        b"\x1b[1;2R",  # Shift+F3
        b"\x1b[<0;10;5M",  # a click
        b"\x1b[200~pasted\x1b[201~",
        b"\x1b[97;5u",  # Ctrl+A of the kitty protocol
        b"\x1b[I\x1b[O",  # focus
    ],
)
def test_keys_stay(keys: bytes) -> None:
    assert without_replies(keys) == keys
