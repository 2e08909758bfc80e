"""The registry of processes: retention by number and age, and its list."""

import asyncio

import pytest

from hawse_runtime.core.registry import Retention
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Client, Served, eventually


async def ran(client: Client, process_id: str, command: str = "true") -> None:
    await client.ask("process.start", id=process_id, command=command)
    await client.ask("process.wait", id=process_id, exit=True)


async def names(client: Client) -> list[str]:
    return [process["id"] for process in (await client.ask("process.list"))["processes"]]


@pytest.mark.parametrize("limits", [RuntimeLimits(processes=Retention(count=2))])
async def test_the_latest_ended_processes_are_kept_and_running_ones_do_not_count(client: Client) -> None:
    await client.ask("process.start", id="runs", command="sleep 60")
    for number in range(4):
        await ran(client, f"p{number}")
    assert await names(client) == ["runs", "p2", "p3"]


@pytest.mark.parametrize("limits", [RuntimeLimits(processes=Retention(age=0.05))])
async def test_an_old_process_is_dropped_with_its_output_on_disk(client: Client, served: Served) -> None:
    await ran(client, "p", "head -c 20000000 /dev/zero")
    await eventually(lambda: not len(served.runtime.processes.records))  # a timer drops it, without an event
    assert (await client.refused("process.get", id="p")).code == "not_found"
    assert (served.runtime.spill.held, served.runtime.spill.files) == (0, 0)


async def test_processes_outlive_the_client_that_started_them(served: Served) -> None:
    async with served.client() as client:
        await ran(client, "p", "echo kept; exit 3")
    async with served.client() as client:
        assert (await client.ask("process.get", id="p"))["exit"]["code"] == 3
        reader = client.call("process.attach", {"id": "p"})
        await reader.result()
        assert reader.output == b"kept\n"


@pytest.mark.parametrize("limits", [RuntimeLimits(processes=Retention(count=1))])
async def test_an_id_that_ran_twice_counts_once(client: Client) -> None:
    await ran(client, "p")
    await ran(client, "p")
    await ran(client, "q")
    assert await names(client) == ["q"]
    await ran(client, "p")
    assert await names(client) == ["p"]


async def test_a_long_list_has_pages_and_long_arguments_are_cut(client: Client) -> None:
    for number in range(5):
        await ran(client, f"p{number}", f": {'x' * 1000}")
    first = await client.ask("process.list", limit=2)
    assert [p["id"] for p in first["processes"]] == ["p0", "p1"]
    assert first["more"]
    rest = await client.ask("process.list", after="p1", limit=1000)
    assert [p["id"] for p in rest["processes"]] == ["p2", "p3", "p4"]
    assert not rest["more"]
    argv = rest["processes"][0]["argv"]
    assert argv[1] == "-c"
    assert argv[2].endswith("x…")
    assert sum(map(len, argv)) < 300
    assert len((await client.ask("process.get", id="p2"))["argv"][2]) == 1002


async def test_starts_of_one_id_at_once_give_one_process(client: Client) -> None:
    calls = [client.call("process.start", {"id": "p", "command": "sleep 60"}) for _ in range(20)]
    await asyncio.gather(*(call.until(lambda call=call: call.closed) for call in calls))  # type: ignore[misc]
    refused = [call.error for call in calls if call.error is not None]
    assert len(refused) == 19
    assert {error.code for error in refused} == {"conflict"}


@pytest.mark.parametrize("process_id", ["my/../id", "../x", "", "a\n", "x" * 65])
async def test_an_id_that_could_be_a_path_is_invalid(client: Client, process_id: str) -> None:
    assert (await client.refused("process.start", id=process_id, command="true")).code == "invalid_params"


async def test_a_failed_start_adds_no_process_and_keeps_the_ended_one_of_its_id(client: Client) -> None:
    assert (await client.refused("process.start", id="p", argv=["no-such-program"])).code == "spawn_failed"
    assert await names(client) == []
    await ran(client, "p", "exit 7")
    assert (await client.refused("process.start", id="p", argv=["no-such-program"])).code == "spawn_failed"
    assert (await client.ask("process.get", id="p"))["exit"]["code"] == 7
