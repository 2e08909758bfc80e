"""`box.questions` against a real gateway."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from hawse.wire import HawseError
from tests.support.stack import Stack
from tests.support.sync_bridge import Connect

SCRIPT = "read -p 'Name? ' x; read -s -p 'Password: ' y; echo; echo \"$x has ${#y} characters\"; read -n 1 z; read w"


async def test_a_person_answers_what_an_agent_asks(connect: Connect, tmp_path: Path) -> None:
    async with Stack(tmp_path / "state") as stack, connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        run = await box.exec(["bash", "-c", SCRIPT], terminal=True)
        assert run.needs_input is not None
        question = await box.questions.ask(run.id, "for the form", question=run.needs_input.since)
        assert (question.kind, question.prompt, await box.questions.list()) == ("line", "Name?", [question])
        claimed = await box.questions.claim(question)
        assert (claimed.state, (await box.questions.claim(question, release=True)).state) == ("claimed", "open")
        assert (await box.questions.answer(question, "Anna")).state == "answered"
        assert await box.questions.wait(question) == (await box.questions.list())[0]
        with pytest.raises(HawseError, match="conflict"):
            await box.questions.refuse(question)

        run = await run.read()
        secret = await box.questions.ask(run.id, "to log in", kind="secret")
        with pytest.raises(HawseError, match="the maximum is 4095"):
            await box.questions.answer(secret, "x" * 4096)
        await box.questions.answer(secret, "hunter2")
        run = await run.read()
        assert (run.text.strip(), b"hunter2" in run.output) == ("Anna has 7 characters", False)
        key = await box.questions.ask(run.id, "to continue")
        assert (await box.questions.answer(key, keys=["y"])).kind == "key"
        run = await run.read()
        line = await box.questions.ask(run.id, "the last one", choices=["a", "b"], expires=600)
        assert (await box.questions.refuse(line)).state == "refused"
        await run.kill()


async def test_an_unknown_question_is_not_waited_for(connect: Connect, tmp_path: Path) -> None:
    async with Stack(tmp_path / "state") as stack, connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.terminals.open("main", argv=["cat"])
        question = await box.questions.ask("main", "look", kind="takeover")
        async with asyncio.timeout(30):
            with pytest.raises(HawseError, match="not_found"):
                await box.questions.wait(msgspec.structs.replace(question, id="q-unknown"))
