"""The command history: what is taken from marks, what is unknown, and how much is kept."""

from collections.abc import Sequence
from typing import Any

from hawse_runtime.terminal.command_history import ANSWER_BYTES, KEPT, KEPT_BYTES, CommandHistory

ESCAPED = rb"633;E;echo 'a\x3bb\\c'\x0aend;nonce"


class Shell:
    """Prints marks into `output`."""

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

    def list(self, limit: int = 1000, before: int | None = None) -> tuple[Sequence[Any], bool]:
        return self.commands.list(limit, before)


def test_a_command_has_line_exit_code_and_output_range() -> None:
    shell = Shell()
    shell.run(b"make test\r\n\x1b[?2004l\r", code=b"2", output=b"no rule\r\n")
    ((command,), _) = shell.list()
    assert (command.number, command.line, command.cwd, command.code) == (1, "make test", "/w", 2)
    assert shell.output[command.start : command.end] == b"no rule\r\n"
    assert command.after == len(shell.output)
    assert command.started <= command.ended


def test_a_line_reported_by_the_shell_is_unescaped() -> None:
    shell = Shell()
    shell.mark(b"133;B")
    shell.output += b"ec\x08\x08echo\r\n"
    shell.commands.set_line(ESCAPED)
    shell.mark(b"133;C")
    assert shell.commands.running is not None
    assert shell.commands.running.line == "echo 'a;b\\c'\nend"


def test_a_line_that_was_edited_on_screen_is_not_guessed() -> None:
    shell = Shell()
    shell.run(b"ec\x1b[Decho\r\n")
    assert shell.list()[0][0].line is None


def test_a_command_without_an_end_mark_has_no_code_when_the_next_starts() -> None:
    shell = Shell()
    shell.mark(b"133;C")
    shell.mark(b"133;A")
    assert shell.commands.running is not None  # a nested shell may have printed that prompt
    shell.mark(b"133;C")
    (first, second), _ = shell.list()
    assert (first.code, first.end is not None, second.end) == (None, True, None)


def test_an_end_without_a_start_is_ignored_and_the_code_may_be_missing() -> None:
    shell = Shell()
    shell.mark(b"133;D;0")
    assert shell.list() == ([], False)
    shell.run(b"x", code=b"abc")
    assert shell.list()[0][0].code is None


def test_the_first_command_that_ended_after_an_offset_is_found() -> None:
    shell = Shell()
    shell.run(b"a")
    middle = len(shell.output)
    shell.run(b"b")
    assert shell.commands.ended_after(0).line == "a"  # type: ignore[union-attr]
    assert shell.commands.ended_after(middle).line == "b"  # type: ignore[union-attr]
    assert shell.commands.ended_after(len(shell.output)) is None


def test_commands_are_listed_page_by_page() -> None:
    shell = Shell()
    for n in range(10):
        shell.run(b"c%d" % n)
    commands, more = shell.list(4)
    assert [c.number for c in commands] == [7, 8, 9, 10]
    assert more
    commands, more = shell.list(100, before=7)
    assert [c.number for c in commands] == [1, 2, 3, 4, 5, 6]
    assert not more


def test_kept_and_listed_commands_are_bounded() -> None:
    shell = Shell()
    for _ in range(KEPT + 10):
        shell.run(b"x")
    assert next(c.number for c in shell.list(10_000)[0]) == 11
    for _ in range(200):
        shell.commands.set_line(b"633;E;" + b"\xff" * 100_000)
        shell.mark(b"133;C")
        shell.mark(b"133;D;0")
    kept, _ = shell.list(10_000)
    assert sum(c.size for c in kept) <= KEPT_BYTES < ANSWER_BYTES
    assert kept[-1].line == "\ufffd" * 4096
