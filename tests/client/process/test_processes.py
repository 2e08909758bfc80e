"""`box.processes` against a server."""

import asyncio

import pytest

import hawse
from tests.support.fake_server import FakeServer


async def test_a_process_that_is_awaited_outlives_its_handle(hw: hawse.Client, server: FakeServer) -> None:
    process = await hw.sandbox().processes.start(["hang"], id="h")
    process.close()
    assert not server.world.processes["h"].over


async def test_a_block_ends_what_it_has_started_and_nothing_else(hw: hawse.Client, server: FakeServer) -> None:
    processes = hw.sandbox().processes
    async with processes.start(["hang"], id="h") as started:
        async with await processes.attach("h", instance=started.instance):
            pass
        assert not server.world.processes["h"].over
    assert server.world.processes["h"].exit == {"code": None, "signal": "SIGKILL"}


@pytest.mark.async_only(reason="a thread cannot be cancelled")
async def test_cancelling_a_start_ends_the_process_whose_id_no_other_client_knows(
    hw: hawse.Client, server: FakeServer
) -> None:
    async def start() -> None:
        await hw.sandbox().processes.start(["hang"])

    server.world.silent.add("process.attach")
    starting = asyncio.create_task(start())
    await server.until(lambda: server.world.processes)
    (process,) = server.world.processes.values()
    starting.cancel()
    await server.until(lambda: process.over)
    assert process.exit == {"code": None, "signal": "SIGKILL"}
    with pytest.raises(asyncio.CancelledError):
        await starting


async def test_waiting_ends_with_its_timeout_and_the_process_goes_on(hw: hawse.Client, server: FakeServer) -> None:
    async with hw.sandbox().processes.start(["hang"], id="h") as process:
        with pytest.raises(TimeoutError, match=r"deadline_exceeded: the process has not ended within 0.01 s"):
            await process.wait(timeout=0.01)
        assert not server.world.processes["h"].over


async def test_an_empty_id_is_not_replaced(hw: hawse.Client, server: FakeServer) -> None:
    await hw.sandbox().processes.start(["hang"], id="")
    assert list(server.world.processes) == [""]  # a runtime refuses it
