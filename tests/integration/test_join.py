"""A joined machine is a sandbox like any other. No lost connection and no SIGKILL costs a byte."""

import asyncio
import os
import signal
from pathlib import Path

import psutil
import pytest

import hawse
from hawse.client import Options
from hawse.client.base.errors import RefusedError
from hawse.wire import HawseError
from tests.support.flood import READY, check
from tests.support.flooded import read_all, type_numbers
from tests.support.http_clients import http_client
from tests.support.machine import join_process, joining
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack, post
from tests.support.waiting import TIMEOUT, exists, gone

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUICK = Options(backoff_cap=0.1)
CUTS = 40


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


async def created(stack: Stack, sandbox: str = "laptop") -> str:
    """Create a sandbox for a machine to join, and return a token for that purpose only."""
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = await hw.sandboxes.create(sandbox, provider="joined")
        info = await box.info()
        assert (info.state, info.provider) == ("sleeping", "joined")
        assert "hawse join" in (info.reason or "")
        return (await hw.tokens.create("laptop", role="joiner", sandboxes=[sandbox])).token


async def test_a_machine_that_joins_is_a_sandbox_until_ctrl_c(stack: Stack, directory: Path) -> None:
    async with (
        join_process(stack, directory, "--share=write") as machine,
        hawse.connect(stack.base, token=stack.token) as hw,
    ):
        await machine.prints("Press Ctrl-C")
        shown = "\n".join(machine.printed)
        assert f"directory  {directory}" in shown
        assert "run as" in shown
        box = hw.sandbox(machine.sandbox)
        assert (await box.info()).state == "running"
        await box.files.write("a", b"1")
        assert (directory / "a").read_bytes() == b"1"
        assert (await box.exec("pwd")).stdout.decode() == f"{directory}\n"
        entries = [entry for entry in await hw.audit.list() if entry.action == "join" and entry.sandbox == box.id]
        assert str(directory) in entries[0].on["machine"]
        link = next(line.split()[-1] for line in machine.printed if "#token=" in line)
        async with hawse.connect(stack.base, token=link.partition("#token=")[2]) as guest:
            assert await guest.sandbox(box.id).files.read("a") == b"1"
        sleeper = await box.processes.start("sleep 1000")
        machine.process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(machine.process.wait(), 30) == 0
        assert not psutil.pid_exists(sleeper.pid)
        assert machine.programs() == []
        with pytest.raises(HawseError, match="not_found"):
            await box.info()


async def test_cuts_between_the_machine_and_the_gateway_lose_and_double_nothing(
    stack: Stack, directory: Path, make_flood
) -> None:
    token = await created(stack)
    flood = make_flood(burst=200)
    async with (
        CuttingProxy(stack.port, seed=5, cut_after=(5_000, 200_000), cuts_left=CUTS) as proxy,
        joining(proxy.url, token, directory) as machine,
        hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
    ):
        await machine.joined()
        async with (
            hw.sandbox("laptop").terminals.open("flood", argv=flood.argv, lossless=True) as term,
            asyncio.TaskGroup() as tasks,
        ):
            ready = asyncio.Event()
            reading = tasks.create_task(read_all(term, ready, len(READY)))
            await ready.wait()
            typed = await type_numbers(term, proxy.spent)
            output = await reading
    assert proxy.cuts == CUTS
    assert check(output) > 100_000
    assert flood.typed() == typed


async def test_metrics_count_machines_and_how_often_they_connect_again(stack: Stack, directory: Path) -> None:
    token = await created(stack)
    async with (
        CuttingProxy(stack.port) as proxy,
        joining(proxy.url, token, directory) as machine,
    ):
        await machine.joined()
        before = await scraped(stack)
        proxy.cut()
        await machine.joined(2)
        after = await scraped(stack)
    assert before["hawse_machines"] == after["hawse_machines"] == 1
    first, again = (f'hawse_machine_connections_total{{kind="{kind}"}}' for kind in ("first", "again"))
    assert before[first] == after[first] >= 1
    assert after[again] > before[again]


async def scraped(stack: Stack) -> dict[str, float]:
    async with http_client(stack.base) as http:
        answer = await http.get("/metrics", headers={"Authorization": f"Bearer {stack.token}"})
    lines = [line.rsplit(" ", 1) for line in answer.text.splitlines() if line.startswith("hawse_machine")]
    return {name: float(value) for name, value in lines}


async def test_a_gateway_that_is_killed_costs_a_machine_nothing(stack: Stack, directory: Path, make_flood) -> None:
    token = await created(stack)
    flood = make_flood()
    async with (
        joining(stack.base, token, directory) as machine,
        hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
    ):
        await machine.joined()
        box = hw.sandbox("laptop")
        over = asyncio.Event()
        async with (
            box.terminals.open("flood", argv=flood.argv, lossless=True) as term,
            asyncio.TaskGroup() as tasks,
        ):
            flowing = asyncio.Event()
            reading = tasks.create_task(read_all(term, flowing, 200_000))
            await flowing.wait()
            typing = tasks.create_task(type_numbers(term, over))
            slow = tasks.create_task(box.exec("echo ran >> runs; until test -e go; do sleep 0.02; done; exit 5"))
            await exists(directory / "runs")
            await stack.kill()
            await stack.start()
            await machine.joined(2)
            await box.files.write("go", b"")
            assert (await slow).code == 5
            over.set()
            typed = await typing
            check(await reading)
        assert flood.typed() == typed
        assert (directory / "runs").read_text() == "ran\n"
        assert (await box.info()).state == "running"


async def test_a_connection_that_was_lost_unnoticed_is_replaced(stack: Stack, directory: Path) -> None:
    token = await created(stack)
    async with (
        CuttingProxy(stack.port) as proxy,
        joining(proxy.url, token, directory) as machine,
        hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
    ):
        await machine.joined()
        box = hw.sandbox("laptop")
        process = await box.processes.start("read x; echo got $x; exit 3", stdin=True)
        assert proxy.lose() == 1
        await machine.joined(2)
        await process.write(b"it\n")
        assert (await process.wait()).code == 3


async def test_a_machine_that_is_killed_leaves_no_program(stack: Stack, directory: Path) -> None:
    token = await created(stack)
    async with (
        join_process(stack, directory, token=token) as machine,
        hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
    ):
        await machine.prints("Press Ctrl-C")
        sleeper = await hw.sandbox("laptop").processes.start("sleep 1000")
        programs = machine.programs()
        assert programs
        machine.process.kill()
        await machine.process.wait()
        _, alive = await asyncio.to_thread(psutil.wait_procs, [*programs, *_process(sleeper.pid)], TIMEOUT)
        assert not alive


async def test_a_runtime_that_is_killed_is_started_again_without_its_programs(stack: Stack, directory: Path) -> None:
    token = await created(stack)
    async with (
        join_process(stack, directory, token=token) as machine,
        hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
    ):
        await machine.prints("Press Ctrl-C")
        box = hw.sandbox("laptop")
        before = await box.info()
        sleeper = await box.processes.start("sleep 1000")
        runtime = machine.runtime()
        os.kill(runtime.pid, signal.SIGKILL)
        await machine.prints("connected again")
        assert (await box.exec("echo here")).stdout == b"here\n"
        after = await box.info()
        assert after.state == "running"
        assert after.runtime != before.runtime
        _, alive = await asyncio.to_thread(psutil.wait_procs, _process(sleeper.pid), TIMEOUT)
        assert not alive


async def test_both_ends_are_killed_and_the_next_join_ends_what_is_left(stack: Stack, directory: Path) -> None:
    token = await created(stack)
    async with (
        hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
        join_process(stack, directory, token=token) as machine,
    ):
        await machine.prints("Press Ctrl-C")
        sleeper = _process((await hw.sandbox("laptop").processes.start("exec sleep 1000")).pid)
        runtime = machine.runtime()
        runtime.suspend()  # so that it cannot end its programs when `hawse join` is killed
        machine.process.kill()
        runtime.kill()
        await machine.process.wait()
        await stack.kill()
        await stack.start()
        assert sleeper[0].is_running()
        async with join_process(stack, directory, token=token) as again:
            await again.prints("Press Ctrl-C")
            assert (await hw.sandbox("laptop").exec("echo here")).stdout == b"here\n"
            await gone(sleeper[0].pid)


@pytest.mark.parametrize(("method", "reason"), [("delete", "deleted"), ("stop", "stopped")])
async def test_the_end_of_the_sandbox_ends_everything_on_the_machine(
    stack: Stack, directory: Path, method: str, reason: str
) -> None:
    token = await created(stack)
    async with (
        joining(stack.base, token, directory) as machine,
        hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
    ):
        await machine.joined()
        box = hw.sandbox("laptop")
        sleeper = await box.processes.start("sleep 1000")
        await getattr(box, method)()
        assert not psutil.pid_exists(sleeper.pid)
        assert await machine.ended() == f"the sandbox was {reason}"
        async with joining(stack.base, token, directory) as again:
            with pytest.raises(RefusedError, match="unauthenticated" if method == "delete" else "stopped"):
                await again.joined()


async def test_a_token_is_for_one_sandbox_and_for_joining_only(stack: Stack, directory: Path) -> None:
    token = await created(stack)
    await created(stack, "other")
    async with hawse.connect(stack.base, token=token) as hw:
        with pytest.raises(HawseError, match="forbidden"):
            await hw.sandbox("laptop").exec("true")
        with pytest.raises(HawseError, match="forbidden"):
            await hw.sandboxes.list()
    for sandbox in ("other", "local"):
        async with joining(stack.base, token, directory, sandbox=sandbox) as machine:
            with pytest.raises(RefusedError, match="not_found"):
                await machine.joined()
    for wrong, code in ((stack.viewer_token, "forbidden"), ("wrong", "unauthenticated")):
        async with joining(stack.base, wrong, directory, sandbox="laptop") as machine:
            with pytest.raises(RefusedError, match=code):
                await machine.joined()
    async with joining(stack.base, stack.token, directory, sandbox="local") as machine:
        with pytest.raises(RefusedError, match="conflict"):
            await machine.joined()


async def test_a_token_that_is_revoked_ends_the_machine(stack: Stack, directory: Path) -> None:
    token = await created(stack)
    async with (
        joining(stack.base, token, directory) as machine,
        hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
    ):
        await machine.joined()
        found = next(one for one in await hw.tokens.list() if one.role == "joiner")
        assert found.connections == 1
        await hw.tokens.revoke(found.id)
        with pytest.raises(RefusedError, match="revoked"):
            await machine.ended()


async def test_a_second_machine_is_refused_while_the_first_is_connected(
    stack: Stack, directory: Path, tmp_path: Path
) -> None:
    token = await created(stack)
    async with joining(stack.base, token, directory) as machine:
        await machine.joined()
        async with joining(stack.base, token, tmp_path, state=tmp_path / "second") as second:
            with pytest.raises(RefusedError, match="conflict"):
                await second.joined()
    async with joining(stack.base, token, tmp_path, state=tmp_path / "second") as second:
        await second.joined()


async def test_calls_to_a_machine_that_has_left_fail_and_the_sandbox_sleeps(stack: Stack, directory: Path) -> None:
    token = await created(stack)
    path, params = "/v1/sandboxes/laptop/exec", {"command": "true"}
    assert await post(stack, path, params) == (503, "unavailable")
    async with joining(stack.base, token, directory) as machine:
        await machine.joined()
        assert (await post(stack, path, params))[0] == 200
    async with hawse.connect(stack.base, token=stack.token) as hw:
        async with asyncio.timeout(TIMEOUT), hw.sandboxes.watch() as changes:
            async for change in changes:
                if change.id == "laptop" and change.info is not None and change.info.state == "sleeping":
                    break
        assert "ended it" in ((await hw.sandbox("laptop").info()).reason or "")
    assert await post(stack, path, params) == (503, "unavailable")


def _process(pid: int) -> list[psutil.Process]:
    try:
        return [psutil.Process(pid)]
    except psutil.NoSuchProcess:
        return []
