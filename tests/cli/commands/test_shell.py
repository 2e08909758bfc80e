import asyncio
import json
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pexpect
import psutil
import pytest

from hawse.api.types import Exit
from hawse.cli import main
from hawse.cli.commands.shell import exit_code, key_byte
from tests.support.stack import Stack

PROMPT = r"[$#] "


@pytest.fixture
def spawned() -> Iterator[list[pexpect.spawn]]:
    found: list[pexpect.spawn] = []
    yield found
    for command in found:
        command.close(force=True)


@pytest.fixture
def hawse(gateway: Stack, spawned: list[pexpect.spawn]):
    """Starts `hawse` in a terminal of 100 columns and 30 rows."""

    def start(*arguments: str) -> pexpect.spawn:
        command = pexpect.spawn(
            sys.executable, ["-m", "hawse.cli", *arguments], dimensions=(30, 100), timeout=30, encoding="utf-8"
        )
        spawned.append(command)
        return command

    return start


def ended(command: pexpect.spawn) -> int:
    command.expect(pexpect.EOF)
    command.close()
    assert command.exitstatus is not None
    return command.exitstatus


def test_a_shell_has_the_size_of_the_terminal_and_follows_it(hawse) -> None:
    shell = hawse("shell")
    shell.expect(PROMPT)
    shell.sendline("stty size")
    shell.expect("30 100")
    shell.setwinsize(20, 60)
    shell.sendline("until [ \"$(stty size)\" = '20 60' ]; do :; done; echo resi''zed")
    shell.expect("resized")
    shell.sendline("exit 3")
    assert ended(shell) == 3


def test_ctrl_c_reaches_the_program(hawse) -> None:
    shell = hawse("shell")
    shell.expect(PROMPT)
    shell.sendline("sh -c 'echo run\"\"ning; exec sleep 1000'; echo co''de $?")
    shell.expect("running")  # bash loses a Ctrl-C that comes between the start of a child and its first instruction
    shell.sendcontrol("c")
    shell.sendline("echo al''ive")
    shell.expect("alive")
    shell.sendline("exit")
    assert ended(shell) in (0, 130)


def test_the_detach_key_leaves_a_named_terminal_that_can_be_attached_again(hawse) -> None:
    shell = hawse("shell", "kept")
    shell.expect(PROMPT)
    shell.sendline("A=re''membered")
    shell.send("\x1d")
    shell.expect("hawse attach kept")
    assert ended(shell) == 0
    again = hawse("attach", "kept")
    again.expect(PROMPT)
    again.sendline("echo $A")
    again.expect("remembered")
    again.sendline("exit 4")
    assert ended(again) == 4


def test_leaving_a_terminal_without_a_name_ends_it(hawse, gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    shell = hawse("shell", "--detach-key", "ctrl-b")
    shell.expect(PROMPT)
    main(["terminals"])
    (terminal,) = [
        line.split()[0]
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("shell-") and "running" in line
    ]
    shell.send("\x02")
    assert ended(shell) == 0
    main(["terminals"])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(f"{terminal} ")]
    assert "exited" in line


def test_a_read_only_viewer_sees_and_does_not_type(hawse) -> None:
    shell = hawse("shell", "watched")
    shell.expect(PROMPT)
    viewer = hawse("attach", "watched", "--read-only")
    viewer.expect(PROMPT)
    viewer.sendline("echo ty''ped")
    shell.sendline("echo sh''own")
    viewer.expect("shown")
    assert "typed" not in viewer.before
    shell.sendline("exit")
    assert ended(viewer) == 0


def test_a_program_runs_in_a_terminal(hawse) -> None:
    command = hawse("exec", "-t", "sh", "-c", "tty && exit 7")
    command.expect("/dev/pts/")
    assert ended(command) == 7


def test_a_missing_terminal_is_reported(hawse) -> None:
    attach = hawse("attach", "missing")
    attach.expect("not_found")
    assert ended(attach) == 1


def test_the_modes_of_a_program_are_reset_when_the_user_leaves(hawse) -> None:
    shell = hawse("exec", "-t", "sh", "-c", r"printf '\033[?1000h\033[?1047hre''ady'; sleep 1000")
    shell.expect("ready")
    shell.send("\x1d")
    shell.expect_exact("\x1b[?1047l")
    shell.expect_exact("1000;")
    assert ended(shell) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_resets_the_terminal_and_ends_the_program_in_the_sandbox(
    hawse, capsys: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    shell = hawse("exec", "-t", "sh", "-c", r"printf '\033[?1000h\033[?1047hre''ady'; sleep 1000")
    shell.expect("ready")
    shell.kill(number)
    shell.expect_exact("\x1b[?1047l")
    shell.expect_exact("1000;")
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.signalstatus == number
    assert main(["terminals", "--json"]) == 0
    running = [each for each in json.loads(capsys.readouterr().out) if each["exit"] is None and "exec-" in each["id"]]
    assert running == []


def test_a_signal_leaves_a_named_terminal_running(hawse) -> None:
    shell = hawse("shell", "stays")
    shell.expect(PROMPT)
    shell.kill(signal.SIGHUP)
    shell.expect(pexpect.EOF)
    again = hawse("attach", "stays")
    again.expect(PROMPT)
    again.sendline("exit 4")
    assert ended(again) == 4


def test_a_stop_leaves_the_modes_of_the_shell_and_a_continuation_shows_the_terminal_again(
    gateway: Stack, spawned: list[pexpect.spawn]
) -> None:
    shell = pexpect.spawn("bash", ["--norc"], dimensions=(30, 100), timeout=60, encoding="utf-8")
    spawned.append(shell)
    program = r"printf '\033[?1000hre''ady'; read a; echo got-$a"
    shell.sendline(shlex.join([sys.executable, "-m", "hawse.cli", "exec", "-t", "sh", "-c", program]))
    shell.expect("ready")
    (command,) = psutil.Process(shell.pid).children()
    command.send_signal(signal.SIGTSTP)
    shell.expect_exact("1000;")
    shell.expect("Stopped")
    shell.sendline("fg")
    shell.expect_exact("\x1b[?1000h")
    shell.expect("ready")
    shell.sendline("it")
    shell.expect("got-it")


def test_a_stop_that_the_kernel_discards_shows_the_terminal_again(hawse) -> None:
    shell = hawse("exec", "-t", "sh", "-c", r"printf '\033[?1000hre''ady'; read a; echo got-$a")
    shell.expect("ready")
    shell.kill(signal.SIGTSTP)  # it has no parent in its session
    shell.expect_exact("1000;")
    shell.expect("ready")
    shell.sendline("it")
    shell.expect("got-it")
    assert ended(shell) == 0


def test_no_byte_is_lost_when_the_gateway_is_killed_and_started_again(tmp_path: Path, monkeypatch, spawned) -> None:
    with asyncio.Runner() as runner:
        stack = Stack(tmp_path / "s")
        runner.run(stack.start())
        try:
            monkeypatch.setenv("HAWSE_URL", stack.base)
            monkeypatch.setenv("HAWSE_TOKEN", stack.token)
            shell = pexpect.spawn(sys.executable, ["-m", "hawse.cli", "shell"], timeout=60, encoding="utf-8")
            spawned.append(shell)
            shell.expect(PROMPT)
            shell.sendline("stty -echo; PS1=; for i in $(seq 1 2000); do echo line-$i; done; read a; echo got-$a")
            shell.expect("line-500\r\n")
            runner.run(stack.kill())
            shell.sendline("typed-meanwhile")
            runner.run(stack.start())
            for number in range(501, 2001):
                shell.expect_exact(f"line-{number}\r\n")
                assert shell.before == ""
            shell.expect_exact("got-typed-meanwhile\r\n")
            shell.sendline("exit")
            assert ended(shell) == 0
        finally:
            runner.run(stack.close())


def test_a_pipe_is_refused_with_a_hint(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shell"]) == 1
    assert "hawse exec" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "byte"), [("ctrl-]", b"\x1d"), ("Ctrl-B", b"\x02"), ("^-\\", b"\x1c")])
def test_a_control_key_is_one_byte(name: str, byte: bytes) -> None:
    assert key_byte(name) == byte


@pytest.mark.parametrize("name", ["]", "ctrl-", "ctrl-ab", "alt-x", "ctrl-1"])
def test_other_keys_are_refused(name: str) -> None:
    with pytest.raises(click.BadParameter):
        key_byte(name)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (Exit(code=3), 3),
        (Exit(signal="SIGTERM"), 143),
        (Exit(code=124, timed_out=True), 124),
        (Exit(signal="SIGUNKNOWN"), 137),
    ],
)
def test_exit_codes_are_those_of_a_shell(end: Exit, code: int) -> None:
    assert exit_code(end) == code
