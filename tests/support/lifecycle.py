"""Wait for the states of sandboxes, and suspend what drives them."""

import asyncio
import os
import signal

import psutil

import hawse
from tests.support.client import eventually


async def until_state(hw: hawse.Client, id: str, *states: str | None) -> None:
    """Wait until a sandbox has one of the states. None: it does not exist."""
    async with hw.sandboxes.watch() as changes, asyncio.timeout(60):
        known: dict[str, str] = {}
        async for change in changes:
            if change.info is not None:
                known[change.id] = change.info.state
            else:
                known.pop(change.id, None)
            if change.id == id and known.get(id) in states:
                return


async def until_gone(hw: hawse.Client, id: str) -> None:
    """Wait until a sandbox does not exist any more."""
    async with hw.sandboxes.watch() as changes, asyncio.timeout(60):
        if id not in {info.id for info in await hw.sandboxes.list()}:  # what was gone before is no change
            return
        async for change in changes:
            if change.id == id and change.info is None:
                return
            if id not in {info.id for info in await hw.sandboxes.list()}:
                return


async def suspend(pid: int) -> None:
    """Send SIGSTOP, and wait until the process has stopped, which is not an event."""
    os.kill(pid, signal.SIGSTOP)
    await eventually(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)
