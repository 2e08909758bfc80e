"""`box.processes` against a server."""

import asyncio

import pytest

import hawse
from hawse.api import spec_of
from hawse.api.processes import ProcessAttach
from tests.support.fake_server import KILLED, FakeServer


async def test_a_process_that_is_awaited_outlives_its_handle(hw: hawse.Client, server: FakeServer) -> None:
    process = await hw.sandbox().processes.start(["hang"], id="h")
    process.close()
    assert server.processes.get("h").exit is None


async def test_a_block_ends_what_it_has_started_and_nothing_else(hw: hawse.Client, server: FakeServer) -> None:
    processes = hw.sandbox().processes
    async with processes.start(["hang"], id="h") as started:
        async with await processes.attach("h", instance=started.instance):
            pass
        assert server.processes.get("h").exit is None
    assert server.processes.get("h").exit == KILLED


@pytest.mark.async_only(reason="a thread cannot be cancelled")
async def test_cancelling_a_start_ends_the_process_whose_id_no_other_client_knows(
    hw: hawse.Client, server: FakeServer
) -> None:
    async def start() -> None:
        await hw.sandbox().processes.start(["hang"])

    server.leave_unanswered(spec_of(ProcessAttach))
    starting = asyncio.create_task(start())
    await server.until(lambda: server.processes)
    (process,) = server.processes
    starting.cancel()
    await server.until(lambda: process.exit)
    assert process.exit == KILLED
    with pytest.raises(asyncio.CancelledError):
        await starting


async def test_waiting_ends_with_its_timeout_and_the_process_goes_on(hw: hawse.Client, server: FakeServer) -> None:
    async with hw.sandbox().processes.start(["hang"], id="h") as process:
        with pytest.raises(TimeoutError, match=r"deadline_exceeded: the process has not ended within 0.01 s"):
            await process.wait(timeout=0.01)
        assert server.processes.get("h").exit is None


async def test_an_empty_id_is_not_replaced(hw: hawse.Client, server: FakeServer) -> None:
    with pytest.raises(hawse.HawseError, match="invalid_params"):
        await hw.sandbox().processes.start(["hang"], id="")
    assert [params["id"] for params in server.params("process.start")] == [""]
