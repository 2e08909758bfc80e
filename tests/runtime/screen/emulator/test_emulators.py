"""The requests that a screen process serves."""

import msgspec
import pytest

from hawse_runtime.screen.emulator.emulators import Emulators
from hawse_runtime.screen.requests import Answer, Close, Feed, Keys, Open, Paint, Resize, Show, Text


@pytest.fixture
def emulators() -> Emulators:
    opened = Emulators()
    opened.handle(Open(1, 20, 3))
    return opened


def test_a_screen_is_fed_resized_and_painted(emulators: Emulators) -> None:
    assert emulators.handle(Feed(1, b"\x1b[31mhello")) == Answer()
    emulators.handle(Resize(1, 3, 5))
    assert emulators.handle(Text(1)).data.split() == [b"hel", b"lo"]
    assert b"31mhello" in emulators.handle(Paint(1, 0)).data


def test_queries_are_answered_only_if_that_is_wanted(emulators: Emulators) -> None:
    assert emulators.handle(Feed(1, b"\x1b[6n")).replies == b""
    assert emulators.handle(Feed(1, b"\x1b[6n", answers=True)).replies == b"\x1b[1;1R"
    assert emulators.handle(Paint(1, 0)).replies == b""
    assert emulators.handle(Feed(1, b"\x1b[?2048h")).replies == b""
    assert emulators.handle(Resize(1, 30, 4, answers=True)).replies.startswith(b"\x1b[48;4;30")


def test_a_screen_begins_with_what_it_has_read_without_answers(emulators: Emulators) -> None:
    answer = emulators.handle(Open(2, 20, 3, b"\x1b[2;3rtext\x1b[6n\x1b]0;ti"))
    assert answer == Answer(whole=False, calm=False)
    assert emulators.handle(Feed(2, b"tle\x07")) == Answer(calm=False)


def test_a_screen_is_shown_as_json(emulators: Emulators) -> None:
    emulators.handle(Feed(1, b"hi\x1b[?1h"))
    shown = msgspec.json.decode(emulators.handle(Show(1, "text", 0)).data)
    assert (shown["content"].split(), shown["cursor"]["x"], shown["modes"]["application_cursor"]) == (["hi"], 2, True)


def test_keys_are_encoded_in_the_modes_of_the_screen(emulators: Emulators) -> None:
    emulators.handle(Feed(1, b"\x1b[?1h"))
    assert emulators.handle(Keys(1, "a\nb", ["up"])).data == b"a\rb\x1bOA"
    refusal = emulators.handle(Keys(1, "", ["nothing+like+that"])).refusal
    assert refusal is not None
    assert refusal.code == "invalid_params"


def test_each_screen_is_separate_and_closed_alone(emulators: Emulators) -> None:
    emulators.handle(Open(2, 20, 3))
    emulators.handle(Feed(2, b"two"))
    emulators.handle(Close(1))
    assert len(emulators) == 1
    assert emulators.handle(Text(2)).data.strip() == b"two"
    emulators.close()
    assert len(emulators) == 0
