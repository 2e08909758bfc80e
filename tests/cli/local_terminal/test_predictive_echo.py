"""Predictions beside an emulator that shows them, and one that shows only the output."""

import pytest
from hypothesis import given, settings, strategies as st
from pyghostty import Terminal

from hawse.cli.local_terminal.predictive_echo import OPS_LIMIT, PredictiveEcho

COLS, ROWS = 20, 5


class Play:
    """A user and a program, with a screen that has predictions and a screen that has none."""

    def __init__(self) -> None:
        self.echo = PredictiveEcho(COLS, ROWS)
        self.shown = b""
        self.output = b""

    def types(self, data: bytes) -> "Play":
        self.shown += self.echo.typed(data)
        return self

    def prints(self, data: bytes) -> "Play":
        self.shown += self.echo.received(data)
        self.output += data
        return self

    @property
    def text(self) -> str:
        """The visible screen, without the last empty rows."""
        return screen(self.shown)[0]

    def check(self) -> None:
        """The predictions can be removed exactly."""
        assert screen(self.shown + PredictiveEcho.withdraw(self.echo) + b"|") == screen(self.output + b"|")


def screen(output: bytes) -> tuple[str, tuple[int, int]]:
    emulator = Terminal(COLS, ROWS)
    try:
        emulator.feed(output)
        x, y = emulator.cursor
        return "\n".join(row.rstrip() for row in str(emulator.text()).split("\n")).rstrip("\n"), (int(x), int(y))
    finally:
        emulator.close()


def prompted() -> Play:
    """A program at its prompt that has echoed the first character of a line."""
    return Play().prints(b"$ ").types(b"l").prints(b"l")


def test_characters_are_shown_after_the_first_echo_and_underlined_until_confirmed() -> None:
    play = Play().prints(b"$ ").types(b"l")
    assert play.text == "$"
    play.prints(b"l").types(b"s -")
    assert play.text == "$ ls -"
    assert b"\x1b[4ms -\x1b[24m" in play.shown
    play.prints(b"s -")
    assert not play.shown.endswith(b"\x1b[24m")
    play.check()


def test_a_backspace_removes_predictions_and_confirmed_characters() -> None:
    play = prompted().types(b"xy\x7f")
    assert play.text == "$ lx"
    play.types(b"\x7f\x7f")
    assert play.text == "$"
    assert screen(play.shown)[1] == (2, 0)
    play.types(b"a")
    assert play.text == "$ a"
    play.prints(b"xy\x08 \x08\x08\x1b[K")
    assert play.text == "$ a"
    play.prints(b"\x08 \x08a")
    assert play.text == "$ a"
    play.check()


def test_the_prompt_is_not_removed() -> None:
    play = prompted().types(b"\x7f\x7f\x7f")
    assert play.text == "$"
    assert screen(play.shown)[1] == (2, 0)


def test_a_wrong_prediction_is_repaired_by_the_next_output() -> None:
    play = prompted().types(b"sudo")
    assert play.text == "$ lsudo"
    assert play.prints(b"\r\nPassword: ").text == "$ l\nPassword:"
    play.check()


def test_a_password_is_not_shown() -> None:
    play = prompted().types(b"\r").prints(b"\r\nPassword: ").types(b"secret")
    assert play.text == "$ l\nPassword:"
    assert play.types(b"\r").prints(b"\r\n$ ").text == "$ l\nPassword:\n$"


@pytest.mark.parametrize(
    "output",
    [b"\x1b[1m", b"\x1b[?1049h", b"\x1b[3D", b"\x1b[3;3H", b"\x1b[2@", "ü".encode(), b"x" * COLS, b"\rab"],
)
def test_where_the_screen_is_not_known_nothing_is_predicted(output: bytes) -> None:
    play = prompted().prints(output).types(b"a").prints(b"a").types(b"bc")
    assert play.shown.count(b"\x1b[4m") == 0


@pytest.mark.parametrize("keys", [b"\x1b[D", b"\t", b"\x03", "ü".encode(), b"\x15"])
def test_after_another_key_nothing_is_predicted_up_to_the_next_line(keys: bytes) -> None:
    play = prompted().types(keys + b"ab")
    assert b"\x1b[4m" not in play.shown
    play.prints(b"\r\n$ ").types(b"a").prints(b"a").types(b"b")
    assert play.shown.endswith(b"\x1b[4mb\x1b[24m")


def test_a_screen_that_was_cleared_is_known_again() -> None:
    play = prompted().prints(b"\x1b[3;3H\x1b[H\x1b[2J\x1b[3J$ ").types(b"a").prints(b"a").types(b"b")
    assert play.text == "$ ab"
    play.prints(b"\x1b[2;1H\n").types(b"a").prints(b"a").types(b"b")
    assert not play.shown.endswith(b"\x1b[24m")
    play.prints(b"\r\n" * ROWS).types(b"a").prints(b"a").types(b"b")
    assert play.shown.endswith(b"\x1b[4mb\x1b[24m")


def test_the_margin_and_the_number_of_keys_are_limits() -> None:
    play = prompted().types(b"x" * (COLS - 5))
    assert play.text == "$ l" + "x" * (COLS - 5)
    assert play.types(b"x").text == "$ l"
    play.types(b"x" * 3 * OPS_LIMIT)
    play.prints(b"x" * (COLS + 3)).check()


def test_a_resize_withdraws_the_predictions() -> None:
    play = prompted().types(b"ab")
    assert play.echo.resize(COLS, ROWS) == b""
    assert screen(play.shown + play.echo.resize(10, 5))[0] == "$ l"


LINE_MAX = COLS - len("$ ") - 2  # keys beyond it print nothing; predictions end there, at the margin


class Editor:
    """A line discipline that is slow: it prints the keys some time after they were typed."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.line = b""
        self.waiting = b""

    def types(self, keys: bytes) -> None:
        self.waiting += keys
        self.play.types(keys)

    def works(self, count: int) -> None:
        output = b""
        for key in self.waiting[:count]:
            if key == 0x7F:
                output += b"\x08 \x08" if self.line else b""
                self.line = self.line[:-1]
            elif key == 0x0D:
                output += b"\r\nout\r\n$ "
                self.line = b""
            elif len(self.line) < LINE_MAX:
                output += bytes([key])
                self.line += bytes([key])
        self.waiting = self.waiting[count:]
        self.play.prints(output)


KEYS = st.text(st.sampled_from("ab\x7f\r"), max_size=8).map(str.encode)


@given(st.lists(st.tuples(KEYS, st.integers(0, 10)), max_size=30))
@settings(max_examples=100)
def test_when_all_is_echoed_the_screen_is_that_of_the_output(steps: list[tuple[bytes, int]]) -> None:
    editor = Editor(Play().prints(b"$ "))
    for keys, count in steps:
        editor.types(keys)
        editor.works(count)
    editor.works(len(editor.waiting))
    assert screen(editor.play.shown) == screen(editor.play.output)


OUTPUT = st.lists(
    st.sampled_from(
        [
            *(b"a", b"b", b"$ ", b"\r", b"\n", b"\r\n", b"\x08", b"\x08 \x08", b"\x1b[K", b"\x1b[J", b"\x1b[2J"),
            *(b"\x1b[1m", b"\x1b[m", b"\x1b[2;3H", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1bc", b"\x1b", b"[", b"\x1b[A"),
            *(b"\x1b[H", "ü".encode(), b"\t", b"x" * 19),
        ]
    ),
    max_size=4,
).map(b"".join)


@given(st.lists(st.one_of(st.tuples(st.just(True), KEYS), st.tuples(st.just(False), OUTPUT)), max_size=30))
@settings(max_examples=200)
def test_predictions_can_always_be_removed_exactly(steps: list[tuple[bool, bytes]]) -> None:
    play = Play()
    for typed, data in [(False, b"$ "), *steps]:
        if typed:
            play.types(data)
        else:
            play.prints(data)
    play.check()
