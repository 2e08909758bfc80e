"""An agent and a person share one shell through a real gateway, and each receives the other's output."""

import asyncio
import shutil
import sys

import pytest

import hawse
from hawse.client import Output, Terminal
from hawse.wire import HawseError, Limits
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")

LINK_BACKLOG = Limits().backlog  # bytes
QUICK = hawse.client.Options(backoff_cap=0.1)


# A slow shell: it reports an interrupted command only after the next line is typed, or after 0.2 s.
SLOW_SHELL = r"""
import select, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
mark = lambda what: print(f"\033]133;{what}\007", end="", flush=True)
while True:
    mark("A")
    print("$ ", end="")
    mark("B")
    line = sys.stdin.readline().strip()
    if line == "hang":
        print("hanging", flush=True)
        signal.sigwait({signal.SIGINT})
        select.select([sys.stdin], [], [], 0.2)
    mark("C")
    print("ran", line)
    mark("D;130" if line == "hang" else "D;0")
"""


class Person:
    """A viewer with an emulator, which reads all output."""

    def __init__(self, term: Terminal) -> None:
        self.term = term
        self.output = bytearray()
        self._arrived = asyncio.Event()

    async def read(self) -> None:
        async for item in self.term.items():
            if isinstance(item, Output):
                assert item.offset == len(self.output)
                self.output += item.data
                self._arrived.set()

    async def has(self, end: int) -> None:
        """Wait for the output up to the offset `end`."""
        while len(self.output) < end:
            self._arrived.clear()
            await self._arrived.wait()


@pytest.mark.parametrize("shell", ["bash", "zsh"])
async def test_an_agent_and_a_person_share_one_shell(stack: Stack, shell: str) -> None:
    env = {"HOME": str(stack.state), "HISTFILE": None}
    (stack.state / ".zshrc").touch()
    async with (
        hawse.connect(stack.base, token=stack.token) as ours,
        hawse.connect(stack.base, token=stack.token) as theirs,
        ours.sandbox().terminals.open("shared", argv=[shutil.which(shell) or shell], env=env, read_only=False) as agent,
        theirs.sandbox().terminals.attach("shared", instance=agent.instance, kind="person", emulator=True) as seat,
        asyncio.TaskGroup() as tasks,
    ):
        person = Person(seat)
        reading = tasks.create_task(person.read())

        ran = await agent.run("x=42; (echo 'from the agent'; exit 3)")
        assert (ran.code, ran.line) == (3, "x=42; (echo 'from the agent'; exit 3)")
        assert ran.text.startswith("from the agent\n")
        assert ran.end is not None
        await person.has(ran.end)
        assert bytes(person.output[ran.start : ran.end]) == ran.output

        # The person uses the same shell, and the agent waits for the command to end.
        waiting = tasks.create_task(agent.wait_for(command=True, since=ran.after))
        await seat.write(b"echo person $x\r")
        waited = await waiting
        assert waited.event == "command"
        assert waited.command is not None
        assert (waited.command.line, waited.command.code) == ("echo person $x", 0)
        assert (await agent.expect(r"^person (\d+)$", since=waited.command.start)).groups == ["42"]
        assert "person 42" in (await agent.screen()).content

        # The agent presses keys.
        await agent.send("printf 'your turn\\n'; read -s secret; echo got $secret", keys=["enter"])
        await agent.expect("^your turn$")  # in a shell's line editor, Enter is a different byte than for `read`
        await agent.send("abc", keys=["enter"])
        assert (await agent.expect(r"got \w+$")).text == "got abc"
        history = await agent.history()
        assert [c.line for c in history.commands][:2] == [ran.line, "echo person $x"]
        assert (await agent.run("true")).code == 0

        await seat.write(b"exit 7\r")
        assert (await agent.wait_for(exit=True)).event == "exit"
        assert (await seat.wait()).code == 7
        with pytest.raises(HawseError, match="exited"):
            await agent.expect("never")
        await reading


@pytest.mark.soak
async def test_a_command_runs_once_and_its_output_is_complete_over_connections_that_break(stack: Stack) -> None:
    async with (
        CuttingProxy(stack.port, seed=3, cut_after=(20_000, 200_000), cuts_left=20) as proxy,
        hawse.connect(proxy.url, token=stack.token, options=QUICK) as hw,
        hw.sandbox().terminals.open("t", argv=["bash"]) as term,
    ):
        ran = await term.run("echo run >> runs; seq 300000; test $(wc -l < runs) = 1")
        assert (ran.code, ran.missing) == (0, 0)
        assert ran.text == "".join(f"{n}\n" for n in range(1, 300_001))
        assert proxy.cuts > 3
        with pytest.raises(HawseError, match="deadline_exceeded") as late:
            await term.run("sh -c 'echo run\"\"ning; exec cat'", timeout=0.2)
        if late.value.admitted == "yes":  # otherwise nothing was typed within that time
            await term.expect("^running$", since=ran.after)  # an earlier Ctrl-C discards the line, or is lost
            await term.send(keys=["ctrl+c"])
            assert (await term.wait_for(command=True)).event == "command"  # the end of cat
        assert (await term.run("seq 100000", max_output=1000)).output.endswith(b"100000\r\n")


async def test_run_after_an_interrupt_returns_its_own_result(stack: Stack) -> None:
    """Regression: it returned the interrupted command's result if the shell reported that after the next line."""
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.open("t", argv=[sys.executable, "-c", SLOW_SHELL]) as term,
    ):
        await term.expect(r"^\$ ")
        await term.send("hang", keys=["enter"])
        await term.expect("^hanging$")
        await term.send(keys=["ctrl+c"])
        ran = await term.run("next")
        assert (ran.code, ran.text) == (0, "ran next\n")


async def test_50_large_screens_at_once_interrupt_no_call_of_any_client(stack: Stack) -> None:
    """W1: results of more than 8 MiB in total ended the link to the runtime, and with it all clients' calls."""
    retries: list[str] = []

    def options(name: str) -> hawse.client.Options:
        def dice() -> float:  # called for each pause before a retry
            retries.append(name)
            return 0.0

        return hawse.client.Options(dice=dice)

    styled = r"seq -f $'\e[1;31m%06g\e[0m \e[4mof\e[0m \e[7mmany\e[0m rows' 6000; printf ready; exec cat"
    async with (
        hawse.connect(stack.base, token=stack.token, options=options("reader")) as reader,
        hawse.connect(stack.base, token=stack.token, options=options("other")) as other,
        reader.sandbox().terminals.open("rows", argv=["bash", "-c", styled]) as rows,
        other.sandbox().terminals.open("typing", argv=["cat"]) as typing,
    ):
        await rows.expect("ready")
        async with asyncio.TaskGroup() as tasks:
            screens = [tasks.create_task(rows.screen(format="html", scrollback=6000)) for _ in range(50)]
            for number in range(20):
                await typing.send(f"typed {number}", keys=["enter"])
                await typing.expect(f"^typed {number}$")
        contents = {screen.result().content for screen in screens}
    assert len(contents) == 1
    assert 50 * len(contents.pop()) > 2 * LINK_BACKLOG
    assert not retries


async def test_run_in_a_shell_without_command_reports_is_a_conflict(stack: Stack) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.open("t", argv=["sh"]) as term,
    ):
        with pytest.raises(HawseError, match="conflict"):
            await term.run("true")
        with pytest.raises(HawseError, match="invalid_params"):
            await term.run("a\nb")


async def test_integration_works_within_bubblewrap_and_below_a_long_path(tmp_path) -> None:
    async with (
        Stack(tmp_path / ("x" * 200) / "state", isolation="bubblewrap") as stack,
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.open("t") as term,
    ):
        ran = await term.run("cd /tmp; false")
        assert (ran.code, ran.output) == (1, b"")
        assert (await hw.sandbox().call("terminal.get", {"id": "t"}))["cwd"] == "/tmp"


@pytest.mark.parametrize("shell", ["bash", "zsh", "sh", "python"])
async def test_expect_does_not_match_the_echo_of_what_was_typed(stack: Stack, shell: str) -> None:
    (stack.state / ".zshrc").touch()
    argv = [sys.executable, "-q"] if shell == "python" else [shutil.which(shell) or shell]
    wide = "x" * 100
    lines = {
        "python": [f"print('begin', '{wide}', 'end')", "print('again', 'end')"],
    }.get(shell, [f"echo begin {wide} end", "echo again end"])
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        # The line editor of Python 3.13 draws the whole line again after each key.
        hw.sandbox().terminals.open(
            "t", argv=argv, env={"HOME": str(stack.state), "HISTFILE": None, "PYTHON_BASIC_REPL": "1"}
        ) as term,
    ):
        await term.expect(r"^>>> |[#$%] ")
        await term.send(lines[0], keys=["enter"])
        assert (await term.expect(r"begin.*")).text == f"begin {wide} end"
        await term.expect(r">>> |[#$%] ")
        sent = await term.send(lines[1], keys=["enter"])
        assert (await term.expect(r"again.*")).text == "again end"
        assert (await term.expect(r"again.*", since=sent.offset, echo=True)).text in (lines[1][5:], lines[1][7:])
        assert "again" in (await term.expect(r"[^\n]*again.*", on="screen")).text


async def test_expect_does_not_match_lines_that_were_typed_ahead(stack: Stack) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token) as hw,
        hw.sandbox().terminals.open("t", argv=["bash"], env={"HOME": str(stack.state), "HISTFILE": None}) as term,
    ):
        await term.expect(r"[#$] ")
        await term.send("echo ready; read line; echo one $line", keys=["enter"])
        await term.expect("^ready")
        ahead = await term.send("answer\necho two 2\n")
        assert (await term.expect(r"one.*", since=ahead.offset)).text == "one answer"
        assert (await term.expect(r"\b(two.*)")).text == "two 2"
