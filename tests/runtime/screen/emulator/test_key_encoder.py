"""Encoding keys and pasted text as bytes, for the modes that a program has set."""

import pytest
from pyghostty import Terminal as Emulator

from hawse.wire import HawseError
from hawse_runtime.screen.emulator.key_encoder import NAMES, encode_keys, encode_paste
from tests.support import wire as kit


def keys(*names: str, modes: bytes = b"") -> bytes:
    with Emulator(80, 24) as emulator:
        emulator.feed(modes)
        return encode_keys(list(names), emulator)


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("a", b"a"),
        ("A", b"A"),
        ("shift+a", b"A"),
        ("ä", "ä".encode()),
        ("?", b"?"),
        ("+", b"+"),
        ("space", b" "),
        (" ", b" "),
        ("enter", b"\r"),
        ("Return", b"\r"),
        ("tab", b"\t"),
        ("shift+tab", b"\x1b[Z"),
        ("esc", b"\x1b"),
        ("backspace", b"\x7f"),
        ("delete", b"\x1b[3~"),
        ("up", b"\x1b[A"),
        ("ctrl+right", b"\x1b[1;5C"),
        ("pageup", b"\x1b[5~"),
        ("home", b"\x1b[H"),
        ("f1", b"\x1bOP"),
        ("f5", b"\x1b[15~"),
        ("ctrl+c", b"\x03"),
        ("Ctrl+C", b"\x03"),
        ("control+d", b"\x04"),
        ("ctrl+space", b"\0"),
        ("ctrl+\\", b"\x1c"),
        ("ctrl+[", b"\x1b"),
        ("ctrl+i", b"\t"),
        ("ctrl+alt+m", b"\x1b\r"),
        ("alt+x", b"\x1bx"),
        ("ctrl+alt+c", b"\x1b\x03"),
    ],
)
def test_a_key_is_encoded_as_terminals_do(name: str, sent: bytes) -> None:
    assert keys(name) == sent


def test_keys_are_encoded_in_order() -> None:
    assert keys("up", "enter", "x") == b"\x1b[A\rx"


def test_application_cursor_keys_and_the_kitty_protocol_are_respected() -> None:
    assert keys("up", "home", modes=b"\x1b[?1h") == b"\x1bOA\x1bOH"
    assert keys("ctrl+c", "escape", "ctrl+i", modes=b"\x1b[>1u") == b"\x1b[99;5u\x1b[27u\x1b[105;5u"


@pytest.mark.parametrize("name", ["hyper+a", "foo", "ctrl+foo", "+a", "ctrl+", "shift", "\x1b", "f26"])
def test_the_error_for_an_unknown_key_lists_the_known_keys(name: str) -> None:
    with pytest.raises(HawseError) as caught:
        keys("a", name)
    assert caught.value.code == "invalid_params"
    assert caught.value.details["key"] == name
    assert caught.value.details["keys"] == NAMES


def test_every_name_is_a_key() -> None:
    assert all(keys(name) for name in NAMES)


@pytest.mark.parametrize("entry", kit.vectors("pastes.json", "pastes"), ids=kit.called)
def test_pasted_text_cannot_leave_its_brackets_and_has_no_control_characters(entry: kit.Entry) -> None:
    with Emulator(80, 24) as emulator:
        assert encode_paste(entry["text"], emulator) == entry["plain"].encode()
        emulator.feed(b"\x1b[?2004h")
        assert encode_paste(entry["text"], emulator) == entry["bracketed"].encode()


def test_every_control_character_but_tab_and_line_ends_becomes_a_space() -> None:
    controls = [chr(c) for c in (*range(32), *range(0x7F, 0xA0)) if chr(c) not in "\t\r\n"]
    with Emulator(80, 24) as emulator:
        assert encode_paste("".join(controls), emulator) == b" " * len(controls)
