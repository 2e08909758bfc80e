"""Random creations, runs, interrupts, restarts, deletions and sudden ends: contexts agree with a model."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis.stateful import run_state_machine_as_test

from tests.support.code import run
from tests.support.code_model import CodeMachine, Services, options


@pytest.fixture
def services() -> Iterator[None]:
    CodeMachine.services = Services()
    yield
    CodeMachine.services.close()


def test_fifty_contexts_are_created_at_once_during_runs_and_fifteen_make_thirty_runs_each(services: None) -> None:
    client, loop = CodeMachine.services.client, CodeMachine.services.loop

    async def create_all(ids: list[str]) -> None:
        calls = [client.call("code.create", {"id": id, "language": "fake"}) for id in ids]
        for call in calls:  # one after another, because each wait has a time limit
            await call.result()

    async def sustain(id: str) -> None:
        for number in range(1, 31):
            assert (await run(client, "add 1", id)).text == str(number)

    async def all_at_once() -> None:
        busy = [f"busy-{number}" for number in range(15)]
        new = [f"new-{number}" for number in range(50)]
        await create_all(busy)
        await asyncio.gather(*map(sustain, busy), create_all(new))
        done = await asyncio.gather(*(run(client, f"add {number}", id) for number, id in enumerate(new)))
        assert [each.text for each in done] == [str(number) for number in range(50)]
        await asyncio.gather(*(client.ask("code.delete", context=id) for id in (*busy, *new)))
        assert (await client.ask("code.list"))["contexts"] == []

    loop.run_until_complete(all_at_once())


@pytest.mark.usefixtures("services")
def test_contexts_agree_with_their_model() -> None:
    run_state_machine_as_test(CodeMachine, settings=options(examples=6, steps=15))
