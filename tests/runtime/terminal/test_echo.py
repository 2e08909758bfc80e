"""The echo of input in the output of a terminal."""

from hypothesis import given, strategies as st

from hawse_runtime.posix.line_discipline import InputMode
from hawse_runtime.terminal.echo import PARTS_LIMIT, RUN_LIMIT, SEARCH_LIMIT, EchoTracker


class Play:
    """A terminal; `shown` is its output, with an underscore for each byte that is an echo."""

    def __init__(self) -> None:
        self.echo = EchoTracker()
        self.output = b""

    def types(self, data: bytes, mode: InputMode) -> "Play":
        self.echo.typed(data, mode)
        return self

    def prints(self, data: bytes) -> "Play":
        self.echo.feed(len(self.output), data)
        self.output += data
        return self

    def prompts(self) -> "Play":
        self.prints(b"$ ")
        self.echo.prompted()
        return self

    @property
    def shown(self) -> bytes:
        shown = bytearray(self.output)
        for start, end in self.echo.parts(0, len(self.output)):
            shown[start:end] = b"_" * (end - start)
        return bytes(shown)


def test_the_echo_of_the_kernel_is_found_behind_other_output_and_only_once() -> None:
    play = Play().types(b"hello\n", "echo").prints(b"busy\r\nhel").prints(b"lo\r\nhello\r\n")
    assert play.shown == b"busy\r\n_____\r\nhello\r\n"
    assert not play.echo.expecting


def test_the_kernel_prints_several_lines_and_what_an_interrupted_beginning_is_not() -> None:
    play = Play().types(b"ab\rabc\x1b[Ad\r", "echo")
    assert play.prints(b"a").prints(b"x ab\r\nabc^[[Ad\r\nab").shown == b"_x __\r\n___^[__d\r\nab".replace(
        b"d", b"_", 1
    )


def test_a_password_is_not_expected() -> None:
    assert Play().types(b"secret\n", "hidden").prints(b"\r\nsecret").shown == b"\r\nsecret"


def test_an_editor_prints_what_is_typed_first() -> None:
    play = Play().types(b"print", "raw").types(b"(1)\r", "raw").prints(b"\x1b[?25hprint(").prints(b"1)\r\nprint\r\n")
    assert play.shown == b"\x1b[?25h________\r\nprint\r\n"


def test_each_key_is_compared_when_it_is_typed() -> None:
    play = Play()
    for key in (b"l", b"s", b"\r"):
        play.types(key, "raw").prints(key if key != b"\r" else b"\r\nls\r\n")
    assert play.shown == b"__\r\nls\r\n"


def test_a_program_that_prints_something_else_has_no_echo() -> None:
    play = Play().types(b"y", "raw").prints(b"Are you sure? y")
    assert play.shown == play.output


def test_an_editor_may_go_back_and_over_the_end_of_a_row() -> None:
    play = Play().types(b"echo xxxxxx\r", "raw")
    assert play.prints(b"e\x08echo xxx \r\x1b[Kx\rxxx\r\nxxxxxx").shown == b"_" * 20 + b"\r\nxxxxxx"
    play = Play().types(b"abcd\r", "raw")
    assert play.prints(b"ab\x1b[2Dabcd\r\nabcd").shown == b"__________\r\nabcd"


def test_lines_typed_ahead_are_printed_again_behind_the_prompt() -> None:
    play = Play().types(b"one\rtwo\r", "echo").prints(b"one\r\ntwo\r\n").prompts().prints(b"one\r\none\r\n")
    assert play.shown == b"___\r\n___\r\n$ ___\r\none\r\n"
    assert play.prompts().prints(b"two\r\ntwo\r\n").shown.endswith(b"$ ___\r\ntwo\r\n")


def test_lines_that_a_program_has_read_are_passed_over() -> None:
    play = Play().types(b"answer\rls\r", "echo").prints(b"answer\r\nls\r\n").prompts().prints(b"ls\r\nanswer\r\n")
    assert play.shown == b"______\r\n__\r\n$ __\r\nanswer\r\n"


def test_of_several_lines_in_raw_mode_the_later_ones_come_after_prompts() -> None:
    play = Play().types(b"one\rtwo\r", "raw").prints(b"one\r\ntwo one\r\n").prompts().prints(b"two\r\ntwo\r\n")
    assert play.shown == b"___\r\ntwo one\r\n$ ___\r\ntwo\r\n"


def test_keys_are_no_text() -> None:
    play = Play().types(b"\x1b[A\x1bOBls\t", "raw").prints(b"ls-la ls")
    assert play.shown == b"__-la ls"


def test_what_is_kept_is_bounded() -> None:
    play = Play().types(b"x" * 10_000, "echo").prints(b"x" * 10_000)
    assert play.shown.count(b"_") == RUN_LIMIT
    play = Play().types(b"never\n", "echo").prints(b"y" * (SEARCH_LIMIT + 1)).prints(b"never")
    assert not play.echo.expecting
    play = Play()
    for _ in range(3 * PARTS_LIMIT):
        play.types(b"a\n", "echo").prints(b"a\r\n")
    assert PARTS_LIMIT <= len(play.echo.parts(0, len(play.output))) <= 2 * PARTS_LIMIT


PIECES = st.binary(max_size=4) | st.sampled_from([b"ab", b"a", b"\r", b"\n", b"\x08", b"\x1b[D", b"\x1b[", b" "])
STEPS = st.tuples(st.sampled_from(["echo", "raw", "hidden", "output", "prompt"]), PIECES)


@given(st.lists(STEPS, max_size=40))
def test_any_input_and_output_gives_parts_in_order(steps: list[tuple[str, bytes]]) -> None:
    play = Play()
    for kind, data in steps:
        if kind == "output":
            play.prints(data)
        elif kind == "prompt":
            play.prompts()
        else:
            play.types(data, kind)  # type: ignore[arg-type]
    end = 0
    for start, stop in play.echo.parts(0, len(play.output)):
        assert end <= start < stop <= len(play.output)
        end = stop
