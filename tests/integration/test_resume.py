"""Promise 1: output and input resume exactly after any disconnect and after a gateway restart."""

import asyncio

import pytest

import hawse
from hawse.client import Options
from tests.support.flood import READY, check
from tests.support.flooded import read_all, type_numbers
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack
from tests.support.waiting import exists

pytestmark = pytest.mark.asyncio(loop_scope="session")

CUTS = 200
QUICK = Options(backoff_cap=0.1)


@pytest.mark.soak
@pytest.mark.timeout(180)
async def test_a_line_cut_200_times_loses_and_doubles_nothing_in_either_direction(stack: Stack, make_flood) -> None:
    flood = make_flood(burst=500)
    async with (
        CuttingProxy(stack.port, seed=5, cut_after=(1, 200_000), cuts_left=CUTS) as proxy,
        hawse.connect(proxy.url, token=stack.token, options=QUICK) as hw,
        hw.sandbox().terminals.open("flood", argv=flood.argv, lossless=True) as term,
        asyncio.TaskGroup() as tasks,
    ):
        ready = asyncio.Event()
        reading = tasks.create_task(read_all(term, ready, len(READY)))
        await ready.wait()
        typed = await type_numbers(term, proxy.spent)
        output = await reading
    assert proxy.cuts == CUTS
    assert check(output) > 1_000_000
    assert flood.typed() == typed


@pytest.mark.soak
@pytest.mark.timeout(120)
async def test_a_gateway_killed_in_mid_flood_and_mid_typing_costs_nothing(stack: Stack, make_flood) -> None:
    flood = make_flood()
    typing_over = asyncio.Event()
    async with (
        hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
        hw.sandbox().terminals.open("flood", argv=flood.argv, lossless=True) as term,
        asyncio.TaskGroup() as tasks,
    ):
        pid = term.pid
        flowing = asyncio.Event()
        reading = tasks.create_task(read_all(term, flowing, 1_000_000))
        await flowing.wait()
        typing = tasks.create_task(type_numbers(term, typing_over))
        await term.flush()
        await stack.kill()
        await stack.start()
        info = await hw.sandbox().call("terminal.get", {"id": "flood"}, key="a")
        assert info["pid"] == pid
        assert info["instance"] == term.instance
        typing_over.set()
        typed = await typing
        check(await reading)
        assert flood.typed() == typed
        assert hw.connections == 2


async def test_an_exec_continues_and_is_reported_once_after_the_gateway_was_killed(stack: Stack) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
        hw.sandbox().processes.start(
            ["sh", "-c", "echo begun >> runs; read x; seq 200000; exit 9"], stdin=True
        ) as process,
        asyncio.TaskGroup() as tasks,
    ):
        slow = "echo ran >> execs; until test -e go; do sleep 0.02; done; seq 300000; echo bad >&2; exit 5"
        running = tasks.create_task(hw.sandbox().exec(slow))
        await exists(stack.state / "sandboxes/local/workspace/execs")
        await stack.kill()
        await stack.start()
        await hw.sandbox().files.write("go", b"")
        result = await running
        assert (result.code, result.stderr) == (5, b"bad\n")
        assert result.stdout == b"".join(b"%d\n" % n for n in range(1, 300_001))
        await process.write(b"\n")
        output = b"".join([chunk async for stream, chunk in process.output() if stream == "stdout"])
        assert output == b"".join(b"%d\n" % n for n in range(1, 200_001))
        assert (await process.wait()).code == 9
        assert await hw.sandbox().files.read("execs") == b"ran\n"
        assert await hw.sandbox().files.read("runs") == b"begun\n"


@pytest.mark.soak
@pytest.mark.timeout(120)
async def test_a_file_is_uploaded_and_downloaded_completely_over_a_connection_that_breaks(stack: Stack) -> None:
    content = b"".join(b"%015d\n" % n for n in range(500_000))  # 8 MB
    async with (
        CuttingProxy(stack.port, seed=9, cut_after=(100_000, 1_500_000), cuts_left=12) as proxy,
        hawse.connect(proxy.url, token=stack.token, options=QUICK) as hw,
    ):
        await hw.sandbox().files.write("big", content)
        assert await hw.sandbox().files.read("big") == content
        assert proxy.cuts == 12


async def test_what_a_killed_runtime_may_have_run_is_not_run_again(stack: Stack) -> None:
    async with (
        hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
        asyncio.TaskGroup() as tasks,
    ):
        await hw.sandbox().exec("true")  # the workspace exists afterwards
        running = tasks.create_task(settle(hw.sandbox().exec("echo ran >> runs; sleep 1000")))
        await exists(stack.state / "sandboxes/local/workspace/runs")
        (runtime,) = stack.runtimes()
        runtime.kill()
        error = await running
        assert (error.code, error.admitted) == ("outcome_unknown", "unknown")
        assert (await hw.sandbox().exec(["cat", "runs"])).stdout == b"ran\n"


async def settle(call) -> hawse.HawseError:
    with pytest.raises(hawse.HawseError) as caught:
        await call
    return caught.value
