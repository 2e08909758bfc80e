"""`session.*`: ids, errors, and that a deleted session leaves nothing behind."""

from typing import Any

import pytest

from hawse_runtime.session.session import SessionLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Client, alive
from tests.support.sessions import execute, run


async def test_a_delete_ends_the_processes_of_its_session_only(client: Client) -> None:
    for name in ("s", "other"):
        await client.ask("session.create", id=name)
        await run(client, "sleep 60 & echo $!", name)
    other = int((await run(client, "echo $!", "other"))[1])
    mine = int((await run(client, "echo $!"))[1])
    running = execute(client, "sleep 60")
    waiting = execute(client, "echo never")
    await waiting.event("waiting")
    await client.ask("session.delete", id="s")
    assert (await running.refusal()).code == (await waiting.refusal()).code == "exited"
    assert not alive(mine)
    assert alive(other)
    assert (await client.refused("session.get", id="s")).code == "not_found"
    assert (await run(client, "echo on", "other"))[1] == b"on\n"


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("session.create", {"shell": "/no/such"}, "spawn_failed"),
        ("session.create", {"shell": "/bin/cat"}, "spawn_failed"),
        ("session.create", {"cwd": "no/such"}, "spawn_failed"),
        ("session.create", {"env": {"a-b": "c"}}, "invalid_params"),
        ("session.exec", {"id": "missing", "command": "true"}, "not_found"),
        ("session.get", {"id": "missing"}, "not_found"),
        ("session.watch", {"id": "missing"}, "not_found"),
        ("session.delete", {"id": "missing"}, "not_found"),
        ("session.process", {"session": "missing", "argv": ["true"]}, "not_found"),
    ],
)
async def test_a_call_that_cannot_be_served_is_a_typed_error(
    client: Client, method: str, params: dict[str, Any], code: str
) -> None:
    assert (await client.refused(method, params)).code == code
    assert (await client.info())["sessions"] == 0


async def test_the_id_of_a_running_session_is_a_conflict(client: Client) -> None:
    await client.ask("session.create", id="s")
    assert (await client.refused("session.create", id="s")).code == "conflict"
    assert (await execute(client, "a\0b").refusal()).code == "invalid_params"
    assert (await execute(client, "a", env={"a b": "c"}).refusal()).code == "invalid_params"
    assert (await execute(client, "a", instance="other").refusal()).code == "stale_handle"


async def test_deleted_sessions_leave_no_descriptor_and_no_task(client: Client) -> None:
    await client.ask("session.create", id="warm")
    await client.ask("session.delete", id="warm")
    before = await client.info()
    for number in range(5):
        await client.ask("session.create", id="s")
        await run(client, "echo 1", key=f"k{number}")
        execute(client, "sleep 60", stdin=True, input="i")
        await execute(client, "echo").event("waiting")
        await client.ask("session.delete", id="s", grace=0)
    after = await client.info()
    assert (after["open_fds"], after["tasks"], after["sessions"]) == (before["open_fds"], before["tasks"], 0)


@pytest.mark.parametrize("limits", [RuntimeLimits(sessions=SessionLimits(running=2, ended=1))])
async def test_running_sessions_are_limited_and_only_the_latest_ended_ones_are_kept(client: Client) -> None:
    for name in ("a", "b"):
        await client.ask("session.create", id=name)
    assert (await client.refused("session.create", id="c")).code == "limit_exceeded"
    for name in ("a", "b"):
        assert (await execute(client, "exit", name).result())["ended"]
    assert (await client.refused("session.get", id="a")).code == "not_found"
    assert [session["id"] for session in (await client.ask("session.list"))["sessions"]] == ["b"]
    again = await client.ask("session.create", id="b")
    assert again["state"] == "running"


@pytest.mark.parametrize("limits", [RuntimeLimits(sessions=SessionLimits(queue=1))])
async def test_commands_beyond_the_limit_of_the_queue_are_refused(client: Client) -> None:
    await client.ask("session.create", id="s")
    running = execute(client, "read x", stdin=True, input="i")
    await running.event("opened")
    waiting = execute(client, "echo next")
    await waiting.event("waiting")
    assert (await execute(client, "echo never").refusal()).code == "limit_exceeded"
    running.end()
    await running.result()
    assert (await waiting.result())["code"] == 0
