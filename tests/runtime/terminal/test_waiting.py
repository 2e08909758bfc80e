"""The waiting state of terminals with real programs, and of a terminal whose looks have given results."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from hawse_runtime.core.thread_pool import ThreadPool, ThreadPools
from hawse_runtime.journal.journal import Journal
from hawse_runtime.posix.tty_readers import Reading
from hawse_runtime.screen.snapshot_cache import SnapshotCache
from hawse_runtime.terminal.options import TerminalOptions
from hawse_runtime.terminal.terminal import Terminal
from hawse_runtime.terminal.waiting import is_interactive, prompt_of
from tests.support import terminals
from tests.support.local_screens import LocalScreens
from tests.support.runtime import Client, children

Start = Callable[..., Terminal]

PYTHON = "import getpass, os, sys, time\n"
QUESTIONS = {
    "read": (["bash", "-c", "read -p 'Name? ' x"], "line", "Name?"),
    "read -s": (["bash", "-c", "read -s -p 'Secret: ' x"], "secret", "Secret:"),
    "read -n 1": (["bash", "-c", "read -n 1 -p 'Sure? [y/n] ' x"], "key", "Sure? [y/n]"),
    "input": (["python3", "-c", "input('Name: ')"], "line", "Name:"),
    "getpass": (["python3", "-c", PYTHON + "getpass.getpass('Passphrase: ')"], "secret", "Passphrase:"),
    "cat": (["cat"], "line", None),
    "a script": (["sh", "-c", "printf 'a\\033[1mb\\033[0m\\n\\033[32mGo on?\\033[0m '; head -n 1"], "line", "Go on?"),
    "less": (["less", "-P", "prompt", "/etc/passwd"], "key", "prompt"),
    "vim": (["vim", "-u", "NONE"], "key", None),
    "late": (["sh", "-c", "sleep 1; read x"], "line", None),
    "without a prompt in its row": (["sh", "-c", "echo Name:; read x"], "line", None),
    "the last in a pipeline": (["bash", "-c", "seq 9 | (read x </dev/tty)"], "line", None),
}
CHANGED_PROMPT = """
import os, signal, sys, tty
signal.signal(signal.SIGUSR1, lambda *_: print("\\nStill? ", end="", flush=True))
input("One? ")
tty.setcbreak(0)
for _ in range(2):
    print("Two? ", end="", flush=True)
    os.read(0, 1)
"""
IN_ONE_ROW = """
import signal
signal.signal(signal.SIGUSR1, lambda *_: print("Delete B? ", end="", flush=True))
input("Delete A? ")
"""
SILENT = {
    "a fake prompt": "printf 'Password: '; exec sleep 3600",
    "a fake prompt without echo": "stty -echo; printf 'Password: '; exec sleep 3600",
    "a fake key prompt": "stty raw -echo; printf '[y/N] '; exec sleep 3600",
    "a follower": "printf 'Continue? '; exec tail -f /dev/null",
    "a loop": "printf 'x? '; while :; do :; done",
    "another input": "printf 'x? '; mkfifo fifo; exec cat fifo",
    "a toggled echo": "printf 'x? '; while :; do stty -echo; stty echo; done",
}


@pytest.fixture
async def start(tmp_path: Path, pools: ThreadPools) -> AsyncIterator[Start]:
    started: list[Terminal] = []
    before = children()

    def start(*argv: str, looks: ThreadPool | None = None, integrated: bool = False) -> Terminal:
        env = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "HOME": str(tmp_path)}
        started.append(
            Terminal(
                "t",
                TerminalOptions(argv, str(tmp_path), env, 80, 24, integrated=integrated),
                *(Journal(1 << 20), SnapshotCache(), LocalScreens(), looks or pools.look),
                on_exit=lambda _: None,
            )
        )
        return started[-1]

    yield start
    for terminal in started:
        if terminal.exit is None:
            os.killpg(terminal.pid, signal.SIGKILL)
            terminal.signal(signal.SIGKILL)
        await terminals.exited(terminal)
        terminal.retire()
    assert children() <= before


async def waits(terminal: Terminal, kind: str) -> None:
    """Wait until a look has found `kind`, and nothing has happened since."""
    await terminals.until(terminal, lambda: terminal.waiting.current and terminal.waiting.state.kind == kind)


async def idles(terminal: Terminal) -> None:
    await terminals.until(terminal, lambda: terminal.waiting.current and terminal.waiting.state.idle_shell)


def printed(terminal: Terminal) -> bytes:
    return terminal.journal.copy(terminal.journal.start, terminal.journal.end)


@pytest.mark.parametrize(("argv", "kind", "prompt"), QUESTIONS.values(), ids=QUESTIONS)
async def test_a_program_that_waits_for_input(start: Start, argv: list[str], kind: str, prompt: str | None) -> None:
    terminal = start(*argv)
    assert terminal.waiting.state.kind == "no"
    await waits(terminal, kind)
    state = terminal.waiting.state
    assert terminal.waiting.waits
    assert (state.prompt, state.guess, state.idle_shell) == (prompt, False, False)
    assert state.command
    assert state.since


@pytest.mark.parametrize("script", SILENT.values(), ids=SILENT)
async def test_a_program_that_computes_does_not_wait_whatever_it_prints(start: Start, script: str) -> None:
    terminal = start("sh", "-c", script)
    await terminals.until(terminal, lambda: terminal.journal.end and terminal.waiting.current)
    assert terminal.waiting.state.kind == "no"


@pytest.mark.parametrize("argv", [["bash", "--norc"], ["bash", "--norc", "-i"], ["sh"], ["zsh", "-f"], ["fish", "-N"]])
async def test_a_shell_at_its_prompt_is_idle(start: Start, argv: list[str]) -> None:
    terminal = start(*argv)
    await idles(terminal)
    assert terminal.waiting.state.kind == "no"
    assert not terminal.waiting.waits


async def test_a_builtin_of_an_interactive_shell_waits(start: Start) -> None:
    terminal = start("bash", "--norc")
    await idles(terminal)
    terminal.write(b"read -p 'Name? ' x\r")
    await waits(terminal, "line")
    assert terminal.waiting.state.prompt == "Name?"
    terminal.write(b"Anna\r")
    await idles(terminal)


async def test_a_shell_that_reports_its_commands_knows_its_own_prompt(start: Start) -> None:
    script = r"printf '\033]133;A\007$ \033]133;B\007'; exec bash --norc --noprofile -i"
    terminal = start("sh", "-c", script, integrated=True)
    await idles(terminal)
    terminal.write(rb"printf '\033]133;C\007'; read -e -p '? ' x" + b"\r")
    await waits(terminal, "key")
    assert terminal.waiting.state.prompt == "?"


async def test_a_shell_in_a_shell_is_idle(start: Start) -> None:
    terminal = start("bash", "--norc")
    await idles(terminal)
    terminal.write(b"PS1=in: exec bash --norc -i\r")
    await terminals.until(terminal, lambda: printed(terminal).endswith(b"in:"))
    await idles(terminal)


async def test_an_answer_ends_the_question_at_once(start: Start) -> None:
    terminal = start("sh", "-c", "read x; exec sleep 3600")
    await waits(terminal, "line")
    terminal.write(b"answer\n")
    assert (terminal.waiting.state.kind, terminal.waiting.waits) == ("no", False)
    await waits(terminal, "no")


async def test_typing_continues_the_question(start: Start) -> None:
    terminal = start("bash", "-c", "read -p 'Name? ' x")
    await waits(terminal, "line")
    asked = terminal.waiting.state
    terminal.write(b"An")
    assert not terminal.waiting.waits
    await terminals.until(terminal, lambda: printed(terminal).endswith(b"An") and terminal.waiting.waits)
    assert terminal.waiting.state is asked


async def test_a_second_question_is_another_one(start: Start) -> None:
    terminal = start("bash", "-c", "read -p 'One? ' x; read -p 'Two? ' x")
    await waits(terminal, "line")
    first = terminal.waiting.state
    terminal.write(b"1\n")
    await waits(terminal, "line")
    assert terminal.waiting.state.prompt == "Two?"
    assert (terminal.waiting.state.since or 0) >= (first.since or 0)


async def test_a_key_answers_its_question_and_a_changed_prompt_is_another_question(start: Start) -> None:
    terminal = start("python3", "-c", CHANGED_PROMPT)
    await waits(terminal, "line")
    since = terminal.waiting.state.since or 0
    terminal.signal(signal.SIGUSR1)
    await terminals.until(terminal, lambda: terminal.waiting.current and terminal.waiting.state.prompt == "Still?")
    assert not terminal.waiting.asks(since)
    since = terminal.waiting.state.since or 0
    assert terminal.waiting.asks(since)
    terminal.write(b"1\n")
    assert not terminal.waiting.asks(since)
    await waits(terminal, "key")
    since = terminal.waiting.state.since or 0
    terminal.write(b"2")
    assert not terminal.waiting.asks(since)
    await waits(terminal, "key")
    assert not terminal.waiting.asks(since)
    assert terminal.waiting.asks(terminal.waiting.state.since or 0)


@pytest.mark.parametrize("typed", [b"", b"ye"], ids=["nothing typed", "an answer started"])
async def test_a_question_whose_time_is_up_is_not_the_next_one_of_the_same_program(start: Start, typed: bytes) -> None:
    terminal = start("python3", "-c", IN_ONE_ROW)
    await waits(terminal, "line")
    first = terminal.waiting.state
    terminal.write(typed)
    await terminals.until(terminal, lambda: printed(terminal).endswith(typed) and terminal.waiting.waits)
    assert terminal.waiting.asks(first.since or 0)
    terminal.signal(signal.SIGUSR1)
    await terminals.until(terminal, lambda: b"B?" in printed(terminal))
    assert not terminal.waiting.asks(first.since or 0)  # before the next inspection
    await waits(terminal, "line")
    second = terminal.waiting.state
    assert (first.prompt, second.prompt) == ("Delete A?", f"Delete A? {typed.decode()}Delete B?")
    assert not terminal.waiting.asks(first.since or 0)
    assert terminal.waiting.asks(second.since or 0)


async def test_a_question_with_a_time_limit_ends_without_output(start: Start) -> None:
    terminal = start("bash", "-c", "read -t 1 x; exec sleep 3600")
    await waits(terminal, "line")
    await waits(terminal, "no")


async def test_a_program_that_has_ended_does_not_wait(start: Start) -> None:
    terminal = start("sh", "-c", "read x")
    await waits(terminal, "line")
    terminal.write(b"\n")
    await terminals.exited(terminal)
    assert (terminal.waiting.state.kind, terminal.waiting.waits) == ("no", False)


async def test_output_that_flows_ends_the_question(start: Start) -> None:
    terminal = start("sh", "-c", "(read x; exec sleep 3600) & read x </dev/tty; exec yes")
    await waits(terminal, "line")
    states = [terminal.waiting.state.kind]
    os.kill(terminal.pid, signal.SIGCONT)
    terminal.write(b"\n")
    await terminals.until(terminal, lambda: terminal.journal.end > 1 << 20)
    states.append(terminal.waiting.state.kind)
    assert states == ["line", "no"]


# ---- without evidence


class Looks(ThreadPool):
    """Answers each look with the same result."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.looks = 0

    def submit(self, work: Callable[[], Any]) -> "asyncio.Future[Any]":
        self.looks += 1
        future = asyncio.get_running_loop().create_future()
        future.set_result(self.reading)
        return future


HIDDEN = Reading("unknown", 7, ["sudo", "make"])


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("printf 'Continue? [y/N] '", "line"),
        ("stty -echo; printf '[sudo] password for root: '", "secret"),
        ("stty raw -echo; printf '(END)'", "key"),
        ("stty -echo; printf working", "secret"),
    ],
)
async def test_silence_and_shape_are_a_guess_where_the_kernel_shows_nothing(
    start: Start, script: str, kind: str
) -> None:
    terminal = start("sh", "-c", f"{script}; exec sleep 3600", looks=Looks(HIDDEN))
    await waits(terminal, "unknown")
    await waits(terminal, kind)
    assert terminal.waiting.state.guess
    assert terminal.waiting.state.command == "sudo make"


async def test_silence_alone_is_no_guess(start: Start) -> None:
    looks = Looks(HIDDEN)
    terminal = start("sh", "-c", "printf 'Compiling'; exec sleep 3600", looks=looks)
    await waits(terminal, "unknown")
    enough = looks.looks + 8  # with pauses of at least 0.25 s: longer than a guess takes
    terminal.waiting.touched()
    while looks.looks < enough:
        terminal.waiting.touched()
        await waits(terminal, "unknown")
    assert not terminal.waiting.state.guess


async def test_a_raw_program_that_forwards_keys_may_run_something_that_computes(start: Start) -> None:
    looks = Looks(Reading("yes", 7, ["ssh", "host"]))
    terminal = start("sh", "-c", "stty raw -echo; printf building; exec sleep 3600", looks=looks)
    await waits(terminal, "unknown")


async def test_a_program_whose_server_reads_the_terminal_may_wait(start: Start) -> None:
    looks = Looks(Reading("no", 7, ["tmux", "new"]))
    terminal = start("sh", "-c", "stty raw -echo; exec sleep 3600", looks=looks)
    await waits(terminal, "unknown")


async def test_a_password_reader_that_prints_asterisks_reads_a_secret(start: Start) -> None:
    looks = Looks(Reading("yes", 7, ["/usr/bin/systemd-ask-password"]))
    terminal = start("sh", "-c", "stty raw -echo; printf 'Password: '; exec sleep 3600", looks=looks)
    await waits(terminal, "secret")
    assert not terminal.waiting.state.guess


# ---- the parts


@pytest.mark.parametrize(
    ("output", "prompt"),
    [
        (b"", None),
        (b"text\n", None),
        (b"text\r\nName: ", "Name:"),
        (b"50 %\r100 %\rGo on? \x1b[K", "Go on?"),
        (b"\x1b]0;title\x07\x1b[1;32muser\x1b[0m: ", "user:"),
        (b"\x1b[?1049h\x1b[2J\x1b[1;1HMenu", None),
        (b"x\n\x1b[24;1HMenu", None),
        ("Größe? ".encode(), "Größe?"),
        (b"\xff\xfe? ", "\ufffd\ufffd?"),
        (b"a" * 4096, "a" * 256),
    ],
)
def test_a_prompt_is_the_unfinished_row(output: bytes, prompt: str | None) -> None:
    assert prompt_of(output) == prompt


@pytest.mark.parametrize(
    ("argv", "interactive"),
    [
        (["bash"], True),
        (["-bash"], True),
        (["bash", "--rcfile", "x", "-i"], True),
        (["bash", "-o", "vi"], True),
        (["bash", "-c", "read x"], False),
        (["bash", "-lc", "read x"], False),
        (["bash", "script"], False),
        (["zsh", "-f"], True),
    ],
)
def test_a_shell_without_a_script_is_interactive(argv: list[str], *, interactive: bool) -> None:
    assert is_interactive(argv) is interactive


# ---- the methods


async def test_a_viewer_gets_an_event_after_the_output_that_led_to_it(client: Client) -> None:
    shell = await client.terminal("printf 'Name: '; read x; printf 'Hello'; exec sleep 3600")
    assert (await shell.event("opened"))["waiting"]["kind"] in ("no", "line")
    await shell.until(lambda: any(event.value["kind"] == "line" for event in shell.events if event.name == "waiting"))
    event = next(event for event in shell.events if event.name == "waiting")
    assert event.value["prompt"] == "Name:"
    assert shell.output == b"Name: "
    assert (await client.ask("terminal.get", id="t"))["waiting"] == event.value
    assert (await client.ask("terminal.list"))["terminals"][0]["waiting"] == event.value
    await shell.type(b"Anna\n")
    await shell.until(lambda: [e.value["kind"] for e in shell.events if e.name == "waiting"][-1] == "no")
