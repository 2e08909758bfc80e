"""A command with a key runs once, and repeats of its call resume it."""

from typing import Any

from tests.support.runtime import Served
from tests.support.sessions import execute


async def test_a_key_runs_once_and_its_repeat_resumes(served: Served) -> None:
    async with served.client() as client:
        await client.ask("session.create", id="s")
        params: dict[str, Any] = {"stdin": True, "input": "i"}
        first = execute(client, "echo one; read x; echo two >&2; exit 4", key="k", **params)
        await first.seen(b"one\n")
    async with served.client() as client:
        second = execute(client, "echo one; read x; echo two >&2; exit 4", key="k", since={"stdout": 2}, **params)
        await second.event("opened")
        second.send(b"\n")
        result = await second.result()
        assert (result["code"], result["stdout"], result["stderr"], result["ended"]) == (4, 4, 4, True)
        assert (bytes(second.output), bytes(second.stderr)) == (b"e\n", b"two\n")
        third = execute(client, "echo one; read x; echo two >&2; exit 4", key="k", **params)
        assert await third.result() == result
