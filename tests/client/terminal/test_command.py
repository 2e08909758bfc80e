"""Commands in a terminal that ask questions, with real programs on a real gateway."""

import asyncio
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from hawse.client import Sandbox
from hawse.client.base.call_errors import (
    ConflictError,
    ExitedError,
    InvalidParamsError,
    SpawnFailedError,
    StaleHandleError,
)
from tests.support.stack import Stack
from tests.support.sync_bridge import Connect

pytestmark = pytest.mark.asyncio(loop_scope="module")
ENTER = ["enter"]
TWO_QUESTIONS = """
import getpass, signal

def interrupt(*_):
    raise InterruptedError

signal.signal(signal.SIGUSR1, interrupt)
try:
    getpass.getpass()
except InterruptedError:
    print()
print(input("Name? "))
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with Stack(tmp_path_factory.mktemp("commands") / "state") as stack:
        yield stack


@pytest_asyncio.fixture(loop_scope="module")
async def box(stack: Stack, connect: Connect) -> AsyncIterator[Sandbox]:
    async with connect(stack.base, token=stack.token) as hw:
        yield hw.sandbox()


def python(source: str) -> list[str]:
    return [sys.executable, "-c", source]


async def running(box: Sandbox) -> set[str]:
    return {info.id for info in await box.terminals.list() if info.state == "running"}


async def test_a_command_without_a_question_ends_with_its_output(box: Sandbox) -> None:
    run = await box.exec("echo out; echo err >&2; tput cols; tput lines; exit 3", terminal=True)
    assert run.exit is not None
    assert (run.exit.code, run.needs_input, run.missing) == (3, None, 0)
    assert run.output == b"out\r\nerr\r\n120\r\n40\r\n"
    assert run.text == "out\nerr\n120\n40\n"
    run = await box.exec(["stty", "size"], terminal=True, cwd="/", env={"A": "b"}, cols=33, rows=7)
    assert run.text == "7 33\n"


async def test_a_question_is_answered_to_the_end(box: Sandbox) -> None:
    run = await box.exec(python("name = input('Name? '); print('Hello', name)"), terminal=True)
    assert run.needs_input is not None
    assert (run.needs_input.kind, run.needs_input.prompt, run.exit) == ("line", "Name?", None)
    assert run.text == "Name? "
    run = await run.send("Anna", keys=ENTER)
    assert run.exit is not None
    assert (run.exit.code, run.needs_input, run.text) == (0, None, "Anna\nHello Anna\n")


async def test_a_password_is_not_shown(box: Sandbox) -> None:
    run = await box.exec(python("import getpass; print(len(getpass.getpass()))"), terminal=True)
    assert run.needs_input is not None
    assert (run.needs_input.kind, run.needs_input.prompt) == ("secret", "Password:")
    run = await run.send("secret", keys=ENTER)
    assert run.text == "\n6\n"
    run = await box.exec("read -s -p 'PIN: ' pin; echo; echo $((pin + 1))", terminal=True)
    assert run.needs_input is not None
    assert run.needs_input.kind == "secret"
    assert (await run.send("41", keys=ENTER)).text == "\n42\n"


async def test_a_script_with_several_questions_returns_each_of_them(box: Sandbox) -> None:
    script = "for n in 1 2 3; do read -n 1 -p \"$n [y/N] \" x; echo; done; read -p 'Name? ' n; echo $x $n"
    run = await box.exec(script, terminal=True)
    prompts = []
    while run.needs_input is not None:
        prompts.append((run.needs_input.kind, run.needs_input.prompt))
        answer = {"key": ("y", None), "line": ("Anna", ENTER)}[run.needs_input.kind]
        run = await run.send(answer[0], keys=answer[1])
    assert prompts == [("key", "1 [y/N]"), ("key", "2 [y/N]"), ("key", "3 [y/N]"), ("line", "Name?")]
    assert run.text.endswith("y Anna\n")


async def test_a_pager_needs_keys(box: Sandbox) -> None:
    run = await box.exec("seq 1000 | less; echo done", terminal=True)
    assert run.needs_input is not None
    assert (run.needs_input.kind, run.needs_input.prompt) == ("key", ":")
    run = await run.send("G")
    assert run.needs_input is not None
    assert "1000" in run.text
    run = await run.send("q")
    assert run.exit is not None
    assert run.text.endswith("done\n")


async def test_an_interactive_shell_waits_for_its_next_command(box: Sandbox) -> None:
    run = await box.exec(["bash", "--norc"], terminal=True, env={"PS1": "> "})
    assert run.needs_input is not None
    assert (run.needs_input.kind, run.needs_input.idle_shell) == ("no", True)
    run = await run.send("echo $((6 * 7))", keys=ENTER)
    assert run.text == "echo $((6 * 7))\n42\n> "
    run = await run.send("PS1='in> ' exec bash --norc", keys=ENTER)
    assert run.text.endswith("in> ")
    run = await run.send("exit 5", keys=ENTER)
    assert run.exit is not None
    assert run.exit.code == 5


async def test_a_flood_keeps_its_end(box: Sandbox) -> None:
    run = await box.exec("yes | head -c 20000000; read -p 'Go on? ' x; echo end", terminal=True, max_output=100)
    assert run.needs_input is not None
    assert (run.needs_input.prompt, run.missing) == ("Go on?", 30_000_007 - 100)
    assert run.text.endswith("y\nGo on? ")
    assert (await run.send(keys=ENTER)).text == "\nend\n"


async def test_a_command_that_does_not_read_is_ended_at_its_time_limit(box: Sandbox) -> None:
    before = await running(box)
    run = await box.exec("exec sleep 3600", terminal=True, timeout=0.5)
    assert run.exit is not None
    assert (run.exit.timed_out, run.exit.signal, run.needs_input) == (True, "SIGHUP", None)
    assert await running(box) == before


async def test_after_an_answer_a_time_limit_only_ends_the_wait(box: Sandbox) -> None:
    run = await box.exec("read x; echo go; trap 'echo stop; exit 4' INT; while :; do sleep 0.05; done", terminal=True)
    run = await run.send(keys=ENTER, timeout=0.5)
    while "go" not in run.text:  # on a busy machine it has not printed yet
        run = await run.read(timeout=0.5)
    assert (run.needs_input, run.exit) == (None, None)
    run = await run.send(keys=["ctrl+c"])
    assert run.exit is not None
    assert run.exit.code == 4
    assert run.text.endswith("stop\n")
    assert (await run.read()).output == b""


async def test_a_replaced_program_is_not_read_and_its_successor_not_killed(box: Sandbox) -> None:
    first = await box.exec("read x", terminal=True)
    await first.kill()
    async with box.terminals.open(first.id, argv=["cat"]) as successor:
        with pytest.raises(StaleHandleError):
            await first.kill()
        with pytest.raises(StaleHandleError):
            await first.read()
        assert (await box.terminals.get(first.id)).state == "running"
        await successor.kill()


async def test_an_answer_to_an_ended_program_is_an_error(box: Sandbox) -> None:
    asked = await box.exec("read x", terminal=True)
    await asked.kill()
    with pytest.raises(ExitedError):
        await asked.send("late", keys=ENTER)
    done = await box.exec("true", terminal=True)
    with pytest.raises(ExitedError):
        await done.send("late", keys=ENTER)


async def test_an_impossible_time_limit_is_refused_before_anything_is_typed(box: Sandbox) -> None:
    asked = await box.exec("read x; echo got $x", terminal=True)
    with pytest.raises(InvalidParamsError, match="timeout is 0"):
        await asked.send("early", keys=ENTER, timeout=0)
    with pytest.raises(InvalidParamsError, match="timeout is -1"):
        await box.exec("true", terminal=True, timeout=-1)
    assert (await asked.send("in time", keys=ENTER)).text == "in time\ngot in time\n"


async def test_of_two_answers_at_once_one_is_typed(box: Sandbox) -> None:
    asked = await box.exec("read -n 1 -p '? ' a; read -n 1 -p '? ' b; echo; echo $a$b", terminal=True)
    answers = await asyncio.gather(asked.send("1"), asked.send("2"), return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    (second,) = [answer for answer in answers if not isinstance(answer, BaseException)]
    assert [type(error) for error in refused] == [ConflictError]
    with pytest.raises(ConflictError, match="no longer waiting for this answer; nothing was typed"):
        await asked.send("3")
    assert (await second.send("4")).text.rstrip()[-2:] in ("14", "24")


async def test_an_answer_does_not_reach_another_question(box: Sandbox) -> None:
    asked = await box.exec(python(TWO_QUESTIONS), terminal=True)
    assert asked.needs_input is not None
    assert asked.needs_input.kind == "secret"
    async with box.terminals.attach(asked.id) as term:
        await term.signal("USR1")
    named = await asked.read()
    while named.needs_input is None or named.needs_input.kind != "line":
        named = await named.read()
    with pytest.raises(ConflictError):
        await asked.send("secret", keys=ENTER)
    assert (await named.send("Anna", keys=ENTER)).text == "Anna\nAnna\n"


async def test_another_client_follows_a_command(box: Sandbox) -> None:
    asked = await box.exec("echo before; read -p '? ' x; echo after", terminal=True)
    async with box.terminals.attach(asked.id, name="watcher") as term:
        other = await box.terminals.follow(asked.id)
        assert {viewer.kind for viewer in term.viewers} == {"agent"}
    assert (other.text, other.offset, other.id) == ("before\n? ", asked.offset, asked.id)
    ended = await other.send("a", keys=ENTER)
    assert ended.text == "a\nafter\n"
    assert (await asked.read()).text == ended.text
    assert (await box.terminals.follow(asked.id, timeout=5.0, max_output=3)).missing == asked.offset + 10 - 3


async def test_output_that_is_no_longer_kept_is_missing(box: Sandbox) -> None:
    asked = await box.exec("read x; yes | head -c 20000000; echo end", terminal=True)
    async with box.terminals.attach(asked.id) as term:
        await term.send(keys=ENTER)
        await term.wait()
    ended = await asked.read()
    assert ended.text.endswith("y\nend\n")
    assert ended.missing > 0
    assert ended.missing + len(ended.output) == 30_000_007


@pytest.mark.async_only
async def test_a_cancelled_call_ends_its_command(box: Sandbox) -> None:
    before = await running(box)
    call = asyncio.ensure_future(box.exec("exec sleep 3600", terminal=True))
    while not (started := await running(box) - before):
        pass
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    (id,) = started
    async with box.terminals.attach(id) as term:
        assert (await term.wait()).signal == "SIGHUP"


async def test_what_cannot_be_started_is_refused(box: Sandbox) -> None:
    with pytest.raises(SpawnFailedError):
        await box.exec(["no-such-program"], terminal=True)
    with pytest.raises(SpawnFailedError):
        await box.exec("true", terminal=True, cwd="/missing")
    with pytest.raises(TypeError, match="stdin"):
        await box.exec("true", terminal=True, stdin=b"")  # type: ignore[call-overload]


async def test_unattended_programs_ask_fewer_questions(box: Sandbox) -> None:
    script = "echo $DEBIAN_FRONTEND $GIT_TERMINAL_PROMPT $PAGER $CI"
    assert (await box.exec(script, terminal=True, unattended=True)).text == "noninteractive 0 cat 1\n"
    assert (await box.exec(script, unattended=True, env={"CI": None})).text == "noninteractive 0 cat\n"
    async with box.sessions.create() as session:
        assert (await session.exec(script, unattended=True)).text == "noninteractive 0 cat 1\n"
