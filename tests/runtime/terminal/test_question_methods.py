"""`terminal.ask`, `.questions`, `.answer`, `.claim` and `.refuse` with real programs."""

import asyncio
import base64
import shlex
from collections.abc import Callable
from typing import Any

import pytest

from hawse.wire import Principal
from hawse.wire.sealing import seal
from tests.support.principals import AT_MAIN, VIEWER
from tests.support.runtime import Channel, Client

ANNA = Principal(id="anna", name="Anna", kind="user", rights=("write",))
OTTO = Principal(id="otto", name="Otto", kind="user", rights=("write",))
NAME = "read -p 'Name? ' x; echo \"hello $x\"; exec cat"
PASSWORD = "read -s -p 'Password: ' x; echo; echo \"${#x} characters\"; exec cat"
ASKS = r"printf '\033]42973;ask;%s;%s;%s\007' "
TOGGLES = """
import os, sys, termios, threading, time
def toggle():
    while True:
        for flag in (0, termios.ECHO):
            modes = termios.tcgetattr(0)
            modes[3] = modes[3] & ~termios.ECHO | flag
            termios.tcsetattr(0, termios.TCSANOW, modes)
threading.Thread(target=toggle, daemon=True).start()
print("Password: ", end="", flush=True)
os.read(0, 100)
"""


class Listed:
    """The questions that a caller sees."""

    def __init__(self, client: Client, principal: Principal | None = None) -> None:
        self._channel: Channel = client.call("terminal.questions", principal=principal)

    @property
    def all(self) -> list[Any]:
        return self._channel.events[-1].value["questions"] if self._channel.events else []

    async def until(self, condition: Callable[[Any], object], number: int = 1) -> Any:
        """Wait until `number` questions meet the condition; return the last one."""
        await self._channel.until(lambda: sum(bool(condition(each)) for each in self.all) == number)
        return [each for each in self.all if condition(each)][-1]

    async def whole(self, condition: Callable[[], object]) -> None:
        """Wait until the list meets the condition."""
        await self._channel.until(condition)

    async def opened(self, kind: str) -> Any:
        return await self.until(lambda each: each["state"] == "open" and each["kind"] == kind)

    async def settled(self, id: str) -> Any:
        return await self.until(lambda each: each["id"] == id and each["settled"])


async def bash(client: Client, script: str) -> Channel:
    return await client.terminal(f"exec bash -c {shlex.quote(script)}")


async def asks(client: Client, command: str, **params: Any) -> tuple[Channel, Any]:
    """Start a program, and ask once it waits."""
    shell = await bash(client, command)
    await client.ask("terminal.wait", id="t", waiting=True)
    return shell, await client.ask("terminal.ask", {"id": "t", "reason": "because", **params})


def answer(client: Client, question: Any, principal: Principal | None = None, **given: Any) -> Any:
    params = {"id": question["terminal"], "question": question["id"], **given}
    return client.call("terminal.answer", params, principal=principal)


def sealed(question: Any, text: bytes) -> str:
    return base64.b64encode(seal(text, base64.b64decode(question["seal"]), question["id"])).decode()


async def test_a_line_is_typed_and_the_question_answered(client: Client) -> None:
    shell, question = await asks(client, NAME)
    assert (question["kind"], question["state"], question["prompt"]) == ("line", "open", "Name?")
    assert (question["source"], question["reason"]) == ("caller", "because")
    listed = Listed(client)
    shown = await listed.opened("line")
    assert shown == question
    answered = await answer(client, question, ANNA, text="Anna").result()
    assert (answered["state"], answered["by"], answered["id"]) == ("answered", "Anna", question["id"])
    await shell.seen(b"hello Anna")
    assert await listed.settled(question["id"]) == answered


async def test_only_one_of_two_answers_is_typed(client: Client) -> None:
    shell, question = await asks(client, NAME)
    first, second = answer(client, question, text="Anna"), answer(client, question, text="Otto")
    await first.result()
    refused = await second.refusal()
    assert (refused.code, refused.details) == ("conflict", {"state": "answered"})
    await shell.seen(b"hello Anna")
    assert b"Otto" not in shell.output


async def test_a_choice_must_be_one_of_the_choices(client: Client) -> None:
    shell, question = await asks(client, NAME, choices=["red", "blue"])
    assert question["kind"] == "choice"
    assert (await answer(client, question, text="green").refusal()).code == "invalid_params"
    await answer(client, question, text="blue").result()
    await shell.seen(b"hello blue")


async def test_keys_are_pressed_without_enter(client: Client) -> None:
    shell, question = await asks(client, "read -n 1 -p 'Sure? ' x; echo \" is $x\"; exec cat")
    assert question["kind"] == "key"
    await answer(client, question, text="y").result()
    await shell.seen(b" is y")


async def test_a_question_whose_program_no_longer_waits_is_withdrawn(client: Client) -> None:
    shell, question = await asks(client, NAME)
    shell.send(b"Me\n")
    settled = await Listed(client).settled(question["id"])
    assert (settled["state"], settled["by"]) == ("withdrawn", None)
    assert (await answer(client, question, text="late").refusal()).code == "conflict"
    await shell.seen(b"hello Me")


async def test_a_question_whose_program_has_ended_is_withdrawn(client: Client) -> None:
    _, question = await asks(client, NAME)
    await client.ask("terminal.kill", id="t", grace=0)
    assert (await Listed(client).settled(question["id"]))["state"] == "withdrawn"
    assert (await answer(client, question, text="late").refusal()).code == "conflict"
    refused = await client.refused("terminal.ask", id="t", reason="late", kind="takeover")
    assert refused.code == "exited"


async def test_a_claimed_question_is_answered_at_the_keyboard_or_by_its_claimer(client: Client) -> None:
    shell, question = await asks(client, NAME)
    named = {"id": "t", "question": question["id"]}
    claimed = await client.call("terminal.claim", named, principal=ANNA).result()
    assert (claimed["state"], claimed["by"]) == ("claimed", "Anna")
    refused = await answer(client, question, OTTO, text="Otto").refusal()
    assert (refused.code, refused.details) == ("conflict", {"state": "claimed"})
    assert (await client.call("terminal.refuse", named, principal=OTTO).refusal()).code == "conflict"
    released = await client.call("terminal.claim", {**named, "release": True}, principal=OTTO).result()
    assert (released["state"], released["by"]) == ("open", None)
    await client.call("terminal.claim", named, principal=OTTO).result()
    shell.send(b"Otto\n")
    settled = await Listed(client).settled(question["id"])
    assert (settled["state"], settled["by"]) == ("answered", "Otto")


async def test_a_takeover_ends_when_the_person_says_so(client: Client) -> None:
    await bash(client, "exec cat")
    question = await client.ask("terminal.ask", id="t", reason="fix it", kind="takeover")
    assert (await answer(client, question, text="x").refusal()).code == "invalid_params"
    assert (await answer(client, question, ANNA).result())["state"] == "answered"


async def test_a_question_can_be_refused(client: Client) -> None:
    shell, question = await asks(client, NAME)
    refused = await client.call("terminal.refuse", {"id": "t", "question": question["id"]}, principal=ANNA).result()
    assert (refused["state"], refused["by"]) == ("refused", "Anna")
    assert (await client.refused("terminal.claim", id="t", question=question["id"])).code == "conflict"
    shell.send(b"later\n")
    await shell.seen(b"hello later")


async def test_a_question_expires(client: Client) -> None:
    _, question = await asks(client, NAME, expires=0.01)
    assert question["expires"] > question["asked"]
    assert (await Listed(client).settled(question["id"]))["state"] == "expired"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"kind": "secret"}, "conflict"),
        ({"question": 1.0}, "conflict"),
        ({"kind": "choice"}, "invalid_params"),
        ({"kind": "line", "choices": ["a"]}, "invalid_params"),
        ({"reason": "a\nb"}, "invalid_params"),
        ({"reason": ""}, "invalid_params"),
        ({"instance": "earlier"}, "stale_handle"),
    ],
)
async def test_a_question_that_does_not_fit_is_refused(client: Client, params: dict[str, Any], code: str) -> None:
    await bash(client, NAME)
    await client.ask("terminal.wait", id="t", waiting=True)
    assert (await client.refused("terminal.ask", {"id": "t", "reason": "because", **params})).code == code


async def test_a_program_that_does_not_wait_is_only_taken_over(client: Client) -> None:
    shell = await bash(client, "printf ready; exec sleep 1000")
    await shell.seen(b"ready")
    assert (await client.refused("terminal.ask", id="t", reason="name?", kind="line")).code == "conflict"
    await client.ask("terminal.ask", id="t", reason="look", kind="takeover")


async def test_the_number_of_open_questions_is_limited(client: Client) -> None:
    await bash(client, "exec cat")
    questions = [await client.ask("terminal.ask", id="t", reason="look", kind="takeover") for _ in range(8)]
    assert (await client.refused("terminal.ask", id="t", reason="look", kind="takeover")).code == "limit_exceeded"
    await client.ask("terminal.refuse", id="t", question=questions[0]["id"])
    await client.ask("terminal.ask", id="t", reason="look", kind="takeover")
    for number in range(3):
        await client.ask("terminal.create", id=f"t{number}", argv=["cat"])
        for _ in range(8):
            await client.ask("terminal.ask", id=f"t{number}", reason="look", kind="takeover")
    await client.ask("terminal.create", id="last", argv=["cat"])
    refused = await client.refused("terminal.ask", id="last", reason="look", kind="takeover")
    assert (refused.code, refused.message) == ("limit_exceeded", "'direct' has 32 open questions")
    await client.call("terminal.ask", {"id": "last", "reason": "x", "kind": "takeover"}, principal=ANNA).result()


async def test_old_questions_are_forgotten(client: Client) -> None:
    await bash(client, "exec cat")
    for _ in range(66):
        question = await client.ask("terminal.ask", id="t", reason="look", kind="takeover")
        await client.ask("terminal.refuse", id="t", question=question["id"])
    listed = Listed(client)
    await listed.until(lambda each: each["state"] == "refused", 64)
    assert len(listed.all) == 64


async def test_a_caller_without_the_right_neither_sees_nor_answers(client: Client) -> None:
    _, question = await asks(client, NAME)
    assert (await client.call("terminal.questions", principal=VIEWER).refusal()).code == "forbidden"
    assert (await answer(client, question, VIEWER, text="x").refusal()).code == "forbidden"
    assert (await answer(client, question, AT_MAIN, text="x").refusal()).code == "forbidden"
    named = {"id": "main", "question": question["id"]}
    assert (await client.call("terminal.claim", named, principal=AT_MAIN).refusal()).code == "not_found"
    everything, at_main = Listed(client), client.call("terminal.questions", principal=AT_MAIN)
    await everything.opened("line")
    assert await at_main.event("questions") == {"questions": []}


async def test_an_answer_respects_the_writer_lease(client: Client) -> None:
    shell, question = await asks(client, NAME)
    other = client.attach("t", input="a", viewer={"key": "anna"})
    await other.event("opened")
    await client.ask("terminal.lease", id="t", action="take", viewer="anna")
    assert (await answer(client, question, text="x").refusal()).code == "lease_held"
    await answer(client, question, text="x", viewer="anna").result()
    await shell.seen(b"hello x")


# ---- secrets


async def test_a_password_is_listed_without_being_asked_for(client: Client) -> None:
    shell = await bash(client, PASSWORD)
    question = await Listed(client).opened("secret")
    assert (question["source"], question["prompt"], question["reason"]) == ("runtime", "Password:", None)
    answered = await answer(client, question, ANNA, sealed=sealed(question, "päss".encode())).result()
    assert (answered["state"], answered["by"], answered["seal"]) == ("answered", "Anna", None)
    await shell.seen(b"4 characters")
    assert "päss".encode() not in shell.output


async def test_asking_for_a_listed_password_adds_the_reason(client: Client) -> None:
    await bash(client, PASSWORD)
    listed = await Listed(client).opened("secret")
    asked = await client.ask("terminal.ask", id="t", reason="to install git", expires=60)
    assert asked == listed | {"source": "caller", "caller": "direct", "reason": "to install git"} | {
        "expires": asked["expires"]
    }


async def test_a_refused_password_is_not_listed_again(client: Client) -> None:
    shell = await bash(client, PASSWORD)
    listed = Listed(client)
    question = await listed.opened("secret")
    await client.ask("terminal.refuse", id="t", question=question["id"])
    await client.ask("terminal.resize", id="t", cols=100, rows=30)
    await listed.settled(question["id"])
    assert len(listed.all) == 1
    shell.send(b"x\n")
    await shell.seen(b"1 characters")


@pytest.mark.parametrize(
    "given", [{"text": "clear"}, {"sealed": "!"}, {"sealed": ""}, {"sealed": base64.b64encode(bytes(80)).decode()}, {}]
)
async def test_a_secret_that_is_not_sealed_for_its_question_is_refused(client: Client, given: dict[str, str]) -> None:
    await bash(client, PASSWORD)
    question = await Listed(client).opened("secret")
    assert (await answer(client, question, None, **given).refusal()).code == "invalid_params"
    assert (await Listed(client).opened("secret"))["id"] == question["id"]


async def test_a_secret_cannot_contain_a_second_line(client: Client) -> None:
    shell = await bash(client, PASSWORD)
    question = await Listed(client).opened("secret")
    refused = await answer(client, question, sealed=sealed(question, b"pw\nrm -rf /")).refusal()
    assert (refused.code, refused.message) == ("invalid_params", "the answer contains control characters")
    await answer(client, question, sealed=sealed(question, b"pw")).result()
    await shell.seen(b"2 characters")


async def test_a_secret_is_refused_once_the_terminal_echoes(client: Client) -> None:
    # The process that turns echo on is in the background, so the program keeps reading.
    toggle = "(read go < fifo; stty echo < /dev/tty; echo on > done) &"
    shell = await bash(client, f"mkfifo fifo done; trap '' TTOU; {toggle} {PASSWORD}")
    question = await Listed(client).opened("secret")
    await client.execute("echo go > fifo; cat done").result()
    refused = await answer(client, question, sealed=sealed(question, b"hunter2")).refusal()
    assert refused.code == "conflict"
    shell.send(b"x\n")
    await shell.seen(b"1 characters")
    assert b"hunter2" not in shell.output


async def test_an_answer_to_a_program_that_toggles_echo_is_typed_or_refused(client: Client, tmp_path: Any) -> None:
    shell = await bash(client, f"exec python3 -c '{TOGGLES}'")
    listed = Listed(client)
    await shell.seen(b"Password: ")
    for number in range(20):
        await asyncio.sleep(0)
        if questions := [each for each in listed.all if each["state"] == "open" and each["kind"] == "secret"]:
            reply = answer(client, questions[0], sealed=sealed(questions[0], b"hunter2-%d" % number))
            await reply.until(lambda reply=reply: reply.closed)
            if reply.error is None:
                break
            assert reply.error.code == "conflict"
        else:
            await client.ask("terminal.wait", id="t", silence=0.05)
    await client.ask("terminal.kill", id="t", grace=0)


# ---- programs that announce their question


async def test_a_program_announces_its_question(client: Client) -> None:
    reason = base64.b64encode(b"Which colour?").decode()
    choices = f"{reason};{base64.b64encode(b'red').decode()};{base64.b64encode(b'blue').decode()}"
    shell = await bash(client, f"printf '> '; {ASKS} choice '' '{choices}'; read x; echo \"is $x\"; exec cat")
    question = await Listed(client).opened("choice")
    assert (question["source"], question["reason"]) == ("program", "Which colour?")
    assert (question["choices"], question["prompt"]) == (["red", "blue"], ">")
    await answer(client, question, text="red").result()
    await shell.seen(b"is red")


async def test_an_announcement_belongs_only_to_the_read_that_follows_it(client: Client) -> None:
    shell = await bash(client, f"{ASKS} line '' ''; printf 'more'; read x; echo \"is $x\"; exec cat")
    await client.ask("terminal.wait", id="t", waiting=True)
    await client.ask("terminal.ask", id="t", reason="look", kind="takeover")
    listed = Listed(client)
    await listed.opened("takeover")
    assert len(listed.all) == 1
    shell.send(b"x\n")
    await shell.seen(b"is x")


@pytest.mark.parametrize(("ending", "typed"), [("refused", b"end"), ("expired", b"line '\\x18'")])
async def test_a_program_reads_that_its_question_was_refused_or_has_expired(
    client: Client, ending: str, typed: bytes
) -> None:
    limit = "0.05" if ending == "expired" else ""
    shell = await bash(
        client,
        f"{ASKS} line '{limit}' ''; "
        'python3 -c \'import sys; t = sys.stdin.readline(); print(f"line {t[:-1]!a}" if t else "end")\'; exec cat',
    )
    listed = Listed(client)
    if ending == "refused":
        question = await listed.opened("line")
        await client.ask("terminal.refuse", id="t", question=question["id"])
    await listed.until(lambda each: each["state"] == ending)
    await shell.seen(typed)


async def test_a_flood_of_announcements_keeps_the_list_short(client: Client) -> None:
    await bash(client, f"while :; do {ASKS} line '' ''; bash -c 'read -t 0.5 x'; done")
    listed = Listed(client)

    def enough() -> bool:
        states = [each["state"] for each in listed.all]
        assert states.count("open") <= 1
        return states.count("withdrawn") >= 3

    await listed.whole(enough)
    await client.ask("terminal.kill", id="t", grace=0)


async def test_a_secret_is_marked_in_a_recording_of_the_input(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["bash", "-c", PASSWORD], record={"input": True})
    question = await Listed(client).opened("secret")
    await answer(client, question, sealed=sealed(question, b"hunter2")).result()
    await client.ask("terminal.wait", id="t", pattern="7 characters", since=0)
    (recording,) = (await client.ask("recording.list"))["recordings"]
    await client.ask("recording.stop", id=recording["id"])
    read = client.call("recording.read", {"id": recording["id"]})
    await read.result()
    assert b"a secret was typed" in read.output
    assert b"hunter2" not in read.output
