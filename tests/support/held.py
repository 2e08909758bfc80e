"""Counts the resources that servers hold for their clients, and checks that a test releases all of them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import psutil

from hawse.client import Sandbox
from tests.support.stack import Stack

RELEASE_TIMEOUT = 60.0  # seconds until all resources must be released; a reader's position is kept for 30 s


class Held(NamedTuple):
    """The resources that the runtime and the gateway hold."""

    runtime_fds: int
    runtime_tasks: int
    sessions: int
    children: int
    gateway_fds: int

    def exceeds(self, other: "Held") -> bool:
        return any(mine > theirs for mine, theirs in zip(self, other, strict=True))


async def held(stack: Stack, box: Sandbox) -> Held:
    info = await box.call("runtime.info")
    (runtime,) = stack.runtimes()
    children = len(runtime.children(recursive=True))
    gateway = psutil.Process(stack.pid).num_fds()
    return Held(info["open_fds"], info["tasks"], info["sessions"], children, gateway)


@asynccontextmanager
async def nothing_left(stack: Stack, box: Sandbox) -> AsyncIterator[None]:
    """Check that the servers hold no more resources at the end than at the start.

    They may hold fewer, because resources of earlier tests on the same servers are released late.
    """
    await box.exec("true")
    before = await held(stack, box)
    yield
    after = await held(stack, box)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(RELEASE_TIMEOUT):
            while after.exceeds(before):  # polls: other processes release descriptors and tasks without an event
                await asyncio.sleep(0.05)
                after = await held(stack, box)
    assert not after.exceeds(before), f"{before} -> {after}"
