"""Promise 6: nothing outlives its owner. 7,000 terminals come and go, and leave nothing behind."""

import asyncio
from typing import NamedTuple

import psutil
import pytest

import hawse
from hawse.client import Sandbox
from tests.support.stack import Stack

FIRST = 4_500  # terminals until every bounded store is full: the runtime keeps the outcomes of 4,096 calls
MORE = 2_500  # terminals that must leave nothing behind
AT_ONCE = 32
CLOSING = 30.0  # s until the latest terminals are closed, on a busy machine
MIB = 1 << 20


@pytest.fixture
def stack(new_stack: Stack) -> Stack:
    return new_stack


class Held(NamedTuple):
    """The resources that the servers hold."""

    runtime_fds: int
    runtime_tasks: int
    runtime_memory: int
    children: int
    gateway_fds: int
    gateway_memory: int


COUNTED = ("runtime_fds", "runtime_tasks", "children", "gateway_fds")


async def held(stack: Stack, sb: Sandbox) -> Held:
    info = await sb.call("runtime.info")
    gateway = psutil.Process(stack.pid)
    (runtime,) = stack.runtimes()
    return Held(
        info["open_fds"],
        info["tasks"],
        info["memory"],
        len(runtime.children(recursive=True)),
        gateway.num_fds(),
        gateway.memory_info().rss,
    )


async def settled(stack: Stack, sb: Sandbox, before: Held) -> Held:
    """Return the held resources once the latest terminals are closed, some time after their exit event."""
    deadline = asyncio.get_running_loop().time() + CLOSING
    while True:
        now = await held(stack, sb)
        released = all(getattr(now, name) <= getattr(before, name) for name in COUNTED)
        if released or asyncio.get_running_loop().time() > deadline:
            return now
        await asyncio.sleep(0.1)


async def cycle(sb: Sandbox, numbers: range) -> None:
    """Create terminals, attach, and see them exit, AT_ONCE at a time."""
    waiting = iter(numbers)

    async def work() -> None:
        for number in waiting:
            async with sb.terminals.open(f"t{number}", argv=["sh", "-c", f"exit {number % 100}"]) as term:
                assert (await term.wait()).code == number % 100

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(work())


@pytest.mark.soak
@pytest.mark.timeout(300)
async def test_7_000_terminals_leave_no_process_descriptor_task_or_memory_behind(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        sb = hw.sandbox()
        async with sb.terminals.open("screen", argv=["sleep", "60"]):
            await sb.call("terminal.screen", {"id": "screen"})  # starts the screen process
        await sb.call("terminal.kill", {"id": "screen"})
        await cycle(sb, range(FIRST))
        before = await held(stack, sb)
        await cycle(sb, range(FIRST, FIRST + MORE))
        after = await settled(stack, sb, before)
        assert after.children == 1, "the screen process"
        assert [name for name in COUNTED if getattr(after, name) > getattr(before, name)] == [], (before, after)
        assert after.runtime_memory - before.runtime_memory < 4 * MIB
        assert after.gateway_memory - before.gateway_memory < 4 * MIB
