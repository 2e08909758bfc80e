import asyncio
from typing import Any

import pytest

from hawse.api.people import Question
from hawse.client import Sandbox
from tests.support.mcp_agent import Agent, OpenAgent

pytestmark = pytest.mark.asyncio(loop_scope="session")
PROGRAM = r"""printf '\033[?1049h\033[2J\033[5;10Hfull screen'; read x; printf '\033[?1049l'; echo left"""

REPOSITORY = "git init -q r && cd r && git config user.name a && git config user.email a@b.c"
# Commands, the answers to their questions (what is printed last, and the answer), and what their output contains.
TASKS: dict[str, tuple[str, dict[str, str], str]] = {
    "a name": ("python3 -c \"print('hi', input('Name? '))\"", {"Name?": "Anna"}, "hi Anna"),
    "a password": ("python3 -c 'import getpass; print(len(getpass.getpass()))'", {"Password:": "secret"}, "\n6"),
    "a hidden line": ("read -s -p 'PIN: ' pin; echo; echo $((pin + 1))", {"PIN:": "41"}, "42"),
    "yes or no": ("read -n 1 -p 'Sure? [y/N] ' x; echo; [ $x = y ] && echo sure", {"[y/N]": "y"}, "sure"),
    "an installer": (
        "read -p 'Install to [/opt]: ' dir; read -n 1 -p 'Overwrite? ' x; echo; echo installed to ${dir:-/opt} $x",
        {"[/opt]:": "", "Overwrite?": "y"},
        "installed to /opt y",
    ),
    "a menu": ("PS3='Choose: '; select x in red green; do echo $x; break; done", {"Choose:": "2"}, "green"),
    "a removal": ("touch f; rm -i f; [ -e f ] || echo removed", {"'f'?": "yes"}, "\nremoved"),
    "a part of a change": (
        f"{REPOSITORY}; echo a >f; git add f; git commit -qm a; echo b >>f; git add -p; git diff --cached --stat",
        {"?]?": "y"},
        "1 insertion",
    ),
    "a key with a passphrase": (
        "ssh-keygen -q -t ed25519 -f key && echo made",
        {"passphrase):": "a passphrase", "again:": "a passphrase"},
        "made",
    ),
    "a pager": ("seq 1000 | less; echo read", {":": "q"}, "read"),
    "a line editor": (
        "node -e \"const r = require('readline').createInterface(process.stdin, process.stdout);"
        " r.question('Port? ', p => { console.log('port', p); r.close() })\"",
        {"Port?": "8080"},
        "port 8080",
    ),
    "a shell": ("PS1='> ' bash --norc", {">": "exit 0"}, "exit 0"),
    "a program that only seems to ask": ("printf 'Password: '; sleep 2; echo computed", {}, "computed"),
}


class ScriptedAgent:
    """An agent that uses only tools. It knows the answers to questions by the words that are printed last."""

    def __init__(self, call: Agent) -> None:
        self._call = call

    async def run(self, command: str, answers: dict[str, str]) -> tuple[Any, str]:
        """Run a command to its end. Return its exit and its output. Each answer is given once.

        If the program reads keys, an answer of one character is a key. Other answers are lines.
        """
        left, text = dict(answers), ""
        step = await self._call.result("exec", command=command, terminal=True)
        while True:
            assert not step.is_error, step.content
            printed = step.content[0].text.rpartition("[")[0].rstrip()
            text += printed + "\n"
            if (exit := step.structured_content["exit"]) is not None:
                assert left == {}
                return exit, text
            step = await self._answer(step.structured_content, printed, left)

    async def _answer(self, asked: dict[str, Any], printed: str, left: dict[str, str]) -> Any:
        needed = asked["needs_input"]
        if needed is None:
            return await self._call.result("terminal_wait", id=asked["id"], since=asked["offset"])
        words = next(words for words in left if printed.endswith(words))
        answer = left.pop(words)
        keys = [] if needed["kind"] == "key" and len(answer) == 1 else ["enter"]
        return await self._call.result(
            "terminal_send", id=asked["id"], question=needed["since"], text=answer, keys=keys
        )


async def test_a_full_screen_program_is_driven_by_keys(agent: OpenAgent, box: Sandbox) -> None:
    async with agent() as call:
        await call("terminal_open", id="t1", command=PROGRAM, cols=60, rows=12)
        await call("terminal_wait", id="t1", text="full screen")  # on a busy machine a program prints late
        shown = await call("terminal_open", id="t1", command=PROGRAM, cols=60, rows=12)
        place = "cursor in row 5, column 21, a full-screen program; offset 30"
        assert shown == "\n" * 4 + " " * 9 + f"full screen\n[60×12, {place}; running]"
        await call("terminal_send", id="t1", keys=["enter"])
        shown = await call("terminal_wait", id="t1")
        assert shown.startswith("left\n[60×12")
        assert shown.endswith("its program has ended]")
        assert "exited" in await call.fails("terminal_send", id="t1", text="x")


async def test_a_person_sees_what_the_agent_types(agent: OpenAgent, box: Sandbox) -> None:
    async with agent() as call:
        await call("terminal_open", id="t2", command="cat")
        async with box.terminals.attach("t2", kind="person") as person:
            await call("terminal_send", id="t2", text="typed ", paste="pasted", keys=["enter"])
            await person.expect("typed pasted")
            await person.write(b"by hand\n")
            assert "by hand" in await call("terminal_wait", id="t2", pattern=r"by \w+")
            assert "not within 0.1 s" in await call.fails("terminal_wait", id="t2", text="never", timeout=0.1)
            await person.kill()


async def test_rows_above_the_screen_are_returned_when_asked_for(agent: OpenAgent) -> None:
    async with agent() as call:
        await call("terminal_open", id="t3", command="seq 1 100", rows=5)
        await call("terminal_wait", id="t3")
        assert "\n90\n" not in await call("terminal_screen", id="t3")
        assert "\n90\n" in await call("terminal_screen", id="t3", scrollback=50)


@pytest.mark.parametrize(("command", "answers", "output"), TASKS.values(), ids=TASKS)
async def test_an_agent_finishes_a_task_that_contains_questions(
    agent: OpenAgent, command: str, answers: dict[str, str], output: str
) -> None:
    async with agent() as call:
        exit, text = await ScriptedAgent(call).run(f"cd $(mktemp -d); {command}", answers)
        assert exit["code"] == 0, text
        assert output in text


async def test_of_two_agents_that_answer_at_once_one_is_refused(agent: OpenAgent) -> None:
    async with agent() as first, agent() as second:
        asked = (await first.result("exec", command="read x; read y; echo $x $y", terminal=True)).structured_content
        answer = {"id": asked["id"], "question": asked["needs_input"]["since"], "keys": ["enter"]}
        answers = await asyncio.gather(
            first.result("terminal_send", text="one", **answer), second.result("terminal_send", text="two", **answer)
        )
        (refused,) = [each for each in answers if each.is_error]
        (typed,) = [each for each in answers if not each.is_error]
        assert refused.content[0].text.startswith("conflict: ")
        answer["question"] = typed.structured_content["needs_input"]["since"]
        assert await second("terminal_send", text="3", **answer) in (
            "3\none 3\n[exit code 0]",
            "3\ntwo 3\n[exit code 0]",
        )


async def test_a_pasted_answer_ends_the_program_and_returns_its_output(agent: OpenAgent) -> None:
    async with agent() as call:
        asked = (await call.result("exec", command="read x; echo got $x", terminal=True)).structured_content
        answer = {"id": asked["id"], "question": asked["needs_input"]["since"], "paste": "Anna\n"}
        assert await call("terminal_send", **answer) == "Anna\ngot Anna\n[exit code 0]"


async def test_text_and_a_pasted_answer_reach_the_same_question(agent: OpenAgent) -> None:
    async with agent() as call:
        command = "read -p 'A? ' a; read -p 'B? ' b; echo $a-$b"
        asked = (await call.result("exec", command=command, terminal=True)).structured_content
        answer = {"id": asked["id"], "question": asked["needs_input"]["since"], "text": "1", "paste": "2\n"}
        second = (await call.result("terminal_send", **answer)).structured_content
        assert second["needs_input"]["prompt"] == "B?"
        answer = {"id": asked["id"], "question": second["needs_input"]["since"], "paste": "3", "keys": ["enter"]}
        assert await call("terminal_send", **answer) == "3\n12-3\n[exit code 0]"


async def test_a_program_that_keeps_running_is_read_on_and_ended(agent: OpenAgent) -> None:
    async with agent() as call:
        running = await call.result("exec", command="read x; exec sleep 3600", terminal=True)
        id = running.structured_content["id"]
        running = await call.result("terminal_send", id=id, keys=["enter"], timeout=0.2)
        data = running.structured_content
        assert (data["needs_input"], data["exit"]) == (None, None)
        assert f"[still running; to continue: terminal_wait id={id} since={data['offset']}]" in running.content[0].text
        assert "still running" in await call("terminal_wait", id=id, since=data["offset"], timeout=0.2)
        assert "only one of" in await call.fails("terminal_wait", id=id, since=0, text="x")
        await call("terminal_kill", id=id)
        assert "ended by SIGHUP" in await call("terminal_wait", id=id, since=0)


async def test_a_shell_runs_commands_and_asks(agent: OpenAgent) -> None:
    async with agent() as call:
        await call("terminal_open", id="sh", command="PS1='> ' exec bash --norc")
        await call("terminal_wait", id="sh", text=">")
        shown = await call("terminal_send", id="sh", text="echo $((6 * 7))", keys=["enter"], timeout=60)
        assert (
            shown
            == "echo $((6 * 7))\n42\n>\n[at a shell's prompt; answer: terminal_send id=sh; end: terminal_kill id=sh]"
        )
        asked = await call.result("terminal_send", id="sh", text="read -p 'Name? ' x", keys=["enter"], timeout=60)
        assert asked.structured_content["needs_input"]["prompt"] == "Name?"
        await call("terminal_send", id="sh", text="Anna", keys=["enter"], timeout=60)
        await call("terminal_send", id="sh", text="echo ", paste="$x", timeout=0.2)
        assert "> echo $x" in await call("terminal_wait", id="sh", text="echo $x")
        assert "Anna" in await call("terminal_send", id="sh", keys=["enter"], timeout=60)
        assert "exit code 5" in await call("terminal_send", id="sh", text="exit 5", keys=["enter"], timeout=60)


async def test_a_screen_that_was_cut_is_returned_again(agent: OpenAgent) -> None:
    async with agent(limit=1000) as call:
        await call("terminal_open", id="t5", command="seq -f %0100.0f 30; echo ready; exec sleep 3600", rows=40)
        shown = await call("terminal_wait", id="t5", text="ready")
        assert "bytes are omitted" in shown
        offset = (await call.result("terminal_screen", id="t5")).structured_content["offset"]
        assert await call("terminal_screen", id="t5", since=offset) == shown
        await call("terminal_kill", id="t5")


async def test_only_the_changed_rows_are_returned_since_an_offset(agent: OpenAgent) -> None:
    async with agent() as call:
        command = "stty -echo; echo ready; while read x; do seq $x; done"
        await call("terminal_open", id="t4", command=command, rows=8)
        await call("terminal_wait", id="t4", text="ready")
        seen = (await call.result("terminal_screen", id="t4")).structured_content["offset"]
        assert (await call("terminal_screen", id="t4", since=seen)).startswith("[unchanged]\n[120×8, cursor")
        await call("terminal_send", id="t4", text="3", keys=["enter"])
        shown = await call.result("terminal_screen", id="t4", since=seen)
        assert shown.content[0].text.startswith("[changed rows:]\n2: 1\n3: 2\n4: 3\n[120×8, cursor in row 5")
        offset = shown.structured_content["offset"]
        await call("terminal_send", id="t4", text="4", keys=["enter"])
        shown = await call("terminal_screen", id="t4", since=offset)
        assert shown.startswith("[scrolled by 1 rows, changed rows:]\n4: 1\n5: 2\n6: 3\n7: 4\n[120×8")
        whole = await call("terminal_screen", id="t4")
        assert whole.startswith("1\n2\n3\n1\n2\n3\n4\n[")
        assert await call("terminal_screen", id="t4", since=1) == whole
        assert "only one of" in await call.fails("terminal_screen", id="t4", since=1, scrollback=1)


async def answer_next(box: Sandbox, text: str | None) -> Question:
    """Answer the next question of an agent as a person would; refuse it if `text` is None."""
    async with box.questions.watch() as watch:
        async for questions in watch:
            for question in questions:
                if question.unsettled and question.source == "caller":
                    if text is None:
                        return await box.questions.refuse(question)
                    return await box.questions.answer(question, text)
    raise AssertionError("the agent has not asked")


async def test_a_person_types_a_password_that_the_agent_never_sees(agent: OpenAgent, box: Sandbox) -> None:
    async with agent() as call:
        asked = await call.result("exec", command="read -s -p 'PIN: ' x; echo; echo ${#x} digits", terminal=True)
        assert "ask a person: terminal_ask id=t-" in asked.content[0].text
        named = {"id": asked.structured_content["id"], "reason": "to unlock the door"}
        answered, question = await asyncio.gather(call("terminal_ask", **named), answer_next(box, "47110815"))
        assert (question.kind, question.reason) == ("secret", "to unlock the door")
        assert answered.startswith("[answered by ")
        assert answered.endswith("8 digits\n[exit code 0]")
        assert "47110815" not in asked.content[0].text + answered


async def test_a_person_chooses_or_refuses(agent: OpenAgent, box: Sandbox) -> None:
    async with agent() as call:
        asked = await call.result("exec", command="read -p 'Colour? ' x; echo is $x; exec cat", terminal=True)
        id = asked.structured_content["id"]
        refused, _ = await asyncio.gather(call.fails("terminal_ask", id=id, reason="which?"), answer_next(box, None))
        assert refused.startswith("[refused by ")
        chosen = call("terminal_ask", id=id, reason="which?", choices=["red", "blue"])
        text, _ = await asyncio.gather(chosen, answer_next(box, "blue"))
        assert "is blue" in text
        still_open = await call.result("terminal_ask", id=id, reason="look", takeover=True, timeout=0.1)
        assert still_open.structured_content["state"] == "open"
        assert "not answered within 0.1 s; to continue: terminal_wait" in still_open.content[0].text
        await call("terminal_kill", id=id)
