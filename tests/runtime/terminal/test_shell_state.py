"""Title, directory and commands, as programs report them in their output."""

import socket

import pytest

from hawse_runtime.journal.journal import Journal
from hawse_runtime.terminal.shell_state import ShellStateTracker


def observed(*pieces: bytes) -> ShellStateTracker:
    journal = Journal()
    observer = ShellStateTracker(journal)
    for piece in pieces:
        journal.append(piece)
        observer.catch_up()
    return observer


def test_the_title_is_the_latest_and_has_no_controls() -> None:
    assert observed(b"\x1b]0;one\x07\x1b]2;tw\x01o\x9b", b"\x1b\\").title == "two\ufffd"
    assert observed(b"\x1b]1;icon\x07").title is None
    assert len(observed(b"\x1b]2;" + b"x" * 5000 + b"\x07").title or "") == 1024


@pytest.mark.parametrize(
    ("url", "cwd"),
    [
        (b"file:///a/b%20c", "/a/b c"),
        (b"file://localhost/", "/"),
        (b"file://%b/t%%C3%%BC" % socket.gethostname().encode(), "/tü"),
        (b"file://elsewhere/a", None),
        (b"http://localhost/a", None),
        (b"file://", None),
        (b"file:///a%00b", None),
        (b"file:///" + b"a" * 5000, None),
    ],
)
def test_the_directory_is_a_path_of_this_host(url: bytes, cwd: str | None) -> None:
    assert observed(b"\x1b]7;" + url + b"\x07").cwd == cwd


def test_commands_are_seen_with_the_directory_they_ran_in() -> None:
    observer = observed(b"\x1b]7;file:///w\x07\x1b]133;B\x07ls\r\n\x1b]133;C\x07out\x1b]133;", b"D;3\x07")
    ((command,), _) = observer.commands.list(10, None)
    assert (command.line, command.cwd, command.code) == ("ls", "/w", 3)
    assert observer.reports_commands


def test_a_shell_that_was_integrated_is_known_to_tell_before_it_has() -> None:
    assert ShellStateTracker(Journal(), integrated=True).reports_commands
    assert not ShellStateTracker(Journal()).reports_commands


def test_the_shell_is_at_its_prompt_when_it_has_begun_one_since_the_last_line() -> None:
    journal = Journal()
    shell = ShellStateTracker(journal, integrated=True)

    def prints(output: bytes) -> bool:
        journal.append(output)
        shell.catch_up()
        return shell.at_prompt

    def typed(data: bytes) -> bool:
        shell.note_input(data, "raw")
        return shell.at_prompt

    assert not prints(b"welcome\r\n")
    assert prints(b"\x1b]133;A\x07$ \x1b]133;B\x07")
    assert typed(b"ls \x1b[200~a\rb\x1b[201~")
    assert not typed(b"\r")
    assert not typed(b"\x03")  # the shell has read the line, and begins its command although Ctrl-C was typed
    assert not prints(b"^C\x1b]133;C\x07")
    assert not prints(b"\x1b]133;D;130\x07")
    assert prints(b"\x1b]133;A\x07$ ")
    assert prints(b"\x1b]133;B\x07")
    assert not typed(b"\x03")
    assert prints(b"^C\r\n\x1b]133;A\x07$ \x1b]133;B\x07")


@pytest.mark.parametrize("size", [1, 2, 5, 6, 7, 100])
def test_a_paste_is_not_a_typed_line_when_it_is_split_over_several_writes(size: int) -> None:
    shell = observed(b"\x1b]133;A\x07$ \x1b]133;B\x07")
    pasted = b"ls \x1b[A\x1b[200~a\rb\x1b[20\rc\x1b[201~ x\x1b\x1b[200~\r\x1b[201~"
    for start in range(0, len(pasted), size):
        shell.note_input(pasted[start : start + size], "raw")
        assert shell.at_prompt
    shell.note_input(b"\r", "raw")
    assert not shell.at_prompt


def test_a_shell_without_marks_of_prompts_is_at_its_prompt_between_commands() -> None:
    assert not observed(b"$ ").at_prompt
    assert not observed(b"\x1b]133;C\x07").at_prompt
    assert observed(b"\x1b]133;C\x07out\x1b]133;D;0\x07").at_prompt
