"""The definition of activity, with a real runtime."""

import asyncio

from hawse.api.ports import preview_digest
from tests.support.runtime import Client


async def activity(client: Client, **params) -> dict:
    return await client.ask("runtime.activity", **params)


async def test_a_runtime_in_which_nothing_goes_on_is_idle(client: Client) -> None:
    found = await activity(client)
    assert found["busy"] == []
    assert found["idle"] >= 0
    assert found["asleep"] is False


async def test_a_running_process_a_command_and_a_viewer_are_activity(client: Client) -> None:
    process = await client.ask("process.start", command="sleep 300", id="p")
    assert (await activity(client))["busy"] == ["process p"]
    await client.ask("process.kill", id=process["id"])
    assert (await activity(client))["busy"] == []
    command = client.call("exec", {"command": "sleep 300"})
    id = (await command.event("opened"))["id"]
    assert (await activity(client))["busy"] == [f"command {id}", "1 calls"]
    await client.ask("process.kill", id=id)
    await command.result()
    await client.ask("terminal.create", id="t", argv=["cat"])
    await activity(client)
    assert (await activity(client))["busy"] == []
    viewer = client.call("terminal.attach", {"id": "t"})
    await viewer.event("opened")
    assert "terminal t" in (await activity(client))["busy"]
    viewer.cancel()
    await viewer.refusal()
    await activity(client)  # what it had printed
    assert (await activity(client))["busy"] == []


async def test_a_call_that_only_watches_is_not_activity(client: Client) -> None:
    watch = client.call("port.watch", {})
    await watch.event("ports")
    assert (await activity(client))["busy"] == []


async def test_the_time_since_the_last_call_is_counted(client: Client) -> None:
    await client.ask("file.stat", path=".")
    first = (await activity(client))["idle"]
    await asyncio.sleep(0.02)
    second = (await activity(client))["idle"]
    assert second > first
    await client.ask("file.stat", path=".")
    assert (await activity(client))["idle"] < second


async def test_a_runtime_that_goes_to_sleep_refuses_every_other_call(client: Client) -> None:
    assert (await activity(client, sleep_after=3600.0))["asleep"] is False
    await client.ask("file.stat", path=".")
    token = (await client.ask("port.expose", port=80))["token"]
    awake = await activity(client, sleep_after=3600.0)
    assert (awake["asleep"], awake["previews"]) == (False, [preview_digest(token)])
    asleep = await activity(client, sleep_after=0.0)
    assert (asleep["asleep"], asleep["previews"]) == (True, [preview_digest(token)])
    refused = await client.refused("file.stat", path=".")
    assert (refused.code, refused.retryable, refused.admitted) == ("unavailable", True, "no")
    assert (await client.refused("runtime.configure", revision=1)).code == "unavailable"
    assert (await activity(client))["asleep"] is True
