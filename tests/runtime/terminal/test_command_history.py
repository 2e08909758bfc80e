"""Commands by their marks: what is told, what is not known, and how much is kept."""

from typing import Any

from runtime.terminal.command_history import ANSWER_BYTES, KEPT, KEPT_BYTES, CommandHistory

ESCAPED = rb"633;E;echo 'a\x3bb\\c'\x0aend;nonce"


class Shell:
    """Prints marks; `output` is what they stand in."""

    def __init__(self) -> None:
        self.output = b""
        self.commands = CommandHistory(lambda start, stop: self.output[start:stop])

    def mark(self, payload: bytes, cwd: str | None = "/w") -> None:
        start = len(self.output)
        self.output += b"\x1b]" + payload + b"\x07"
        self.commands.mark(payload, start, len(self.output), cwd)

    def run(self, typed: bytes, *, code: bytes = b"0", output: bytes = b"") -> None:
        self.mark(b"133;A")
        self.output += b"$ "
        self.mark(b"133;B")
        self.output += typed
        self.mark(b"133;C")
        self.output += output
        self.mark(b"133;D;" + code)

    def list(self, limit: int = 1000, before: int | None = None) -> Any:
        return self.commands.list(limit, before)


def test_a_command_has_its_line_its_code_and_the_range_of_its_output() -> None:
    shell = Shell()
    shell.run(b"make test\r\n\x1b[?2004l\r", code=b"2", output=b"no rule\r\n")
    (command,) = shell.list()["commands"]
    assert (command.number, command.line, command.cwd, command.code) == (1, "make test", "/w", 2)
    assert shell.output[command.start : command.end] == b"no rule\r\n"
    assert command.after == len(shell.output)
    assert command.started <= command.ended


def test_what_the_shell_says_of_the_line_is_taken_and_unescaped() -> None:
    shell = Shell()
    shell.mark(b"133;B")
    shell.output += b"ec\x08\x08echo\r\n"
    shell.commands.told(ESCAPED)
    shell.mark(b"133;C")
    assert shell.commands.running is not None
    assert shell.commands.running.line == "echo 'a;b\\c'\nend"


def test_a_line_that_was_edited_on_screen_is_not_guessed() -> None:
    shell = Shell()
    shell.run(b"ec\x1b[Decho\r\n")
    assert shell.list()["commands"][0].line is None


def test_one_without_an_end_has_no_code_once_the_next_begins() -> None:
    shell = Shell()
    shell.mark(b"133;C")
    shell.mark(b"133;A")
    assert shell.commands.running is not None  # a shell within may have printed that prompt
    shell.mark(b"133;C")
    first, second = shell.list()["commands"]
    assert (first.code, first.end is not None, second.end) == (None, True, None)


def test_an_end_without_a_beginning_is_nothing_and_a_code_may_be_missing() -> None:
    shell = Shell()
    shell.mark(b"133;D;0")
    assert shell.list() == {"commands": [], "more": False}
    shell.run(b"x", code=b"abc")
    assert shell.list()["commands"][0].code is None


def test_the_first_that_ended_after_an_offset() -> None:
    shell = Shell()
    shell.run(b"a")
    middle = len(shell.output)
    shell.run(b"b")
    assert shell.commands.ended_after(0).line == "a"  # type: ignore[union-attr]
    assert shell.commands.ended_after(middle).line == "b"  # type: ignore[union-attr]
    assert shell.commands.ended_after(len(shell.output)) is None


def test_the_list_goes_back_page_by_page() -> None:
    shell = Shell()
    for n in range(10):
        shell.run(b"c%d" % n)
    page = shell.list(4)
    assert [c.number for c in page["commands"]] == [7, 8, 9, 10]
    assert page["more"]
    page = shell.list(100, before=7)
    assert [c.number for c in page["commands"]] == [1, 2, 3, 4, 5, 6]
    assert not page["more"]


def test_what_is_kept_and_what_is_told_is_bounded() -> None:
    shell = Shell()
    for _ in range(KEPT + 10):
        shell.run(b"x")
    assert next(c.number for c in shell.list(10_000)["commands"]) == 11
    for _ in range(200):
        shell.commands.told(b"633;E;" + b"\xff" * 100_000)
        shell.mark(b"133;C")
        shell.mark(b"133;D;0")
    kept = shell.list(10_000)["commands"]
    assert sum(c.size for c in kept) <= KEPT_BYTES < ANSWER_BYTES
    assert kept[-1].line == "\ufffd" * 4096
