"""Connections and gateways fail while a sandbox is created or started: no call is lost, and none runs twice."""

import asyncio
import os
import random
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

import hawse
from hawse.client import Options
from tests.support.client import eventually
from tests.support.proxy import CuttingProxy
from tests.support.redis import RedisServer
from tests.support.stack import Stack

QUICK = Options(backoff_cap=0.1)
ROUNDS = 15  # for each way to end a gateway


@pytest.fixture
def stack(new_stack: Stack) -> Stack:
    """A separate gateway, since the tests kill it."""
    return new_stack


async def suspend_start(stack: Stack, sandbox: str) -> list[psutil.Process]:
    """Wait until a runtime has been started, and suspend it, most likely before it accepts links."""
    await eventually(lambda: stack.runtimes(sandbox) != [])  # the start of a process is not an event
    found = stack.runtimes(sandbox)
    for process in found:
        process.send_signal(signal.SIGSTOP)
    return found


def has_units(stack: Stack, count: int) -> bool:
    return len(list((stack.state / "sandboxes").glob("s-*"))) >= count


@pytest.mark.parametrize("fault", ["cut", "kill"])
async def test_the_first_call_to_a_sandbox_runs_once_although_it_is_interrupted_while_the_sandbox_starts(
    stack: Stack, fault: str
) -> None:
    async with CuttingProxy(stack.port) as proxy, hawse.connect(proxy.url, token=stack.token, options=QUICK) as hw:
        running = asyncio.ensure_future(hw.sandbox().exec("echo once >> runs; wc -l < runs"))
        started = await suspend_start(stack, "local")
        if fault == "cut":
            proxy.cut()
        else:
            await stack.kill()
            await stack.start()
        for process in started:
            with suppress(psutil.NoSuchProcess):  # another gateway ends runtimes that it has not started
                process.send_signal(signal.SIGCONT)
        assert (await running).stdout == b"1\n"
        assert (await hw.sandbox().exec("cat runs")).stdout == b"once\n"


async def test_a_call_that_ran_before_its_runtime_was_killed_does_not_run_again(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token, options=QUICK) as hw:
        box = hw.sandbox()
        running = asyncio.ensure_future(box.exec("echo once >> runs; sleep 300"))
        runs = stack.state / "sandboxes/local/workspace/runs"
        await eventually(runs.exists)
        os.kill((await box.runtime()).pid, signal.SIGKILL)
        with pytest.raises(hawse.HawseError) as caught:
            await running
        assert caught.value.admitted != "no"
        assert (await box.exec("cat runs")).stdout == b"once\n"


@pytest.mark.parametrize("by", ["kill", "terminate"])
async def test_a_gateway_that_ends_during_creations_and_deletions_leaves_no_sandbox_that_nobody_knows(
    stack: Stack, by: str
) -> None:
    chance = random.Random(by)

    async def use(hw: hawse.Client) -> bytes:
        async with hw.sandboxes.create() as box:
            return (await box.exec("echo 1")).stdout

    async with hawse.connect(stack.base, token=stack.token, options=QUICK) as hw:
        for _ in range(ROUNDS // 5):
            using = [asyncio.ensure_future(use(hw)) for _ in range(5)]
            await eventually(partial(has_units, stack, 1 + chance.randrange(4)))
            await (stack.kill() if by == "kill" else stack.terminate())
            await stack.start()
            assert await asyncio.gather(*using) == [b"1\n"] * 5
        # If a runtime ends too slowly, `delete` raises `cleanup_pending`, and the gateway deletes the sandbox later.
        left = {info.id: info for info in await hw.sandboxes.list() if info.id != "local"}
        assert all(info.state == "deleting" for info in left.values()), left
        async with hw.sandboxes.watch() as changes:
            async for change in changes:
                if change.info is None:
                    left.pop(change.id, None)
                if not left:
                    break


async def test_a_creation_and_a_deletion_continue_although_the_only_gateway_is_killed_in_the_middle(
    stack: Stack,
) -> None:
    async with hawse.connect(stack.base, token=stack.token, options=QUICK) as hw:
        creating = asyncio.ensure_future(hw.sandboxes.create("a", env={"A": "1"}))
        started = await suspend_start(stack, "a")
        await stack.kill()
        await stack.start()
        for process in started:
            with suppress(psutil.NoSuchProcess):  # another gateway ends runtimes that it has not started
                process.send_signal(signal.SIGCONT)
        box = await creating
        assert (await box.exec("echo $A")).stdout == b"1\n"
        async with hw.sandboxes.watch() as changes:
            deleting = asyncio.ensure_future(box.delete())
            async for change in changes:
                if change.info is None or change.info.state == "deleting":
                    break
        await stack.kill()
        await stack.start()
        await deleting
        assert [info.id for info in await hw.sandboxes.list()] == ["local"]


async def test_a_creation_that_is_cancelled_leaves_no_sandbox(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token, options=QUICK) as hw:
        creating = asyncio.ensure_future(hw.sandboxes.create())
        await eventually(lambda: list((stack.state / "sandboxes").glob("s-*")) != [])
        creating.cancel()
        await asyncio.wait([creating])
        assert creating.cancelled()
        async with hw.sandboxes.watch() as changes:
            async for change in changes:
                if change.id != "local" and change.info is None:
                    break
        assert [info.id for info in await hw.sandboxes.list()] == ["local"]


@pytest.mark.parametrize("durable", [True, False])
async def test_a_creation_continues_after_a_restart_of_redis_also_if_that_has_lost_the_sandbox(
    tmp_path: Path, durable: bool
) -> None:
    redis = RedisServer(tmp_path)
    await redis.start(durable=durable)
    try:
        async with (
            Stack(tmp_path / "state", "--store", redis.url) as stack,
            hawse.connect(stack.base, token=stack.token, options=QUICK) as hw,
        ):
            for _ in range(3):
                creating = asyncio.ensure_future(hw.sandboxes.create())
                await eventually(partial(has_units, stack, 1))
                await redis.kill()
                await redis.start(durable=durable)
                box = await creating
                assert (await box.exec("echo 1")).stdout == b"1\n"
                await box.delete()
                await eventually(lambda: not has_units(stack, 1))
    finally:
        await redis.kill()
