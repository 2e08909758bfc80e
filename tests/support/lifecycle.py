"""Waits for states of sandboxes, and suspends the processes that drive them."""

import asyncio
import os
import signal

import psutil

import hawse
from tests.support.client import eventually


async def until_state(hw: hawse.Client, id: str, *states: str | None) -> None:
    """Wait until a sandbox has one of the states. None means that it does not exist."""
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
    """Wait until a sandbox no longer exists."""
    async with hw.sandboxes.watch() as changes, asyncio.timeout(60):
        if id not in {info.id for info in await hw.sandboxes.list()}:  # no change is reported if it is gone
            return
        async for change in changes:
            if change.id == id and change.info is None:
                return
            if id not in {info.id for info in await hw.sandboxes.list()}:
                return


async def suspend(pid: int) -> None:
    """Send SIGSTOP, and poll until the process has stopped."""
    os.kill(pid, signal.SIGSTOP)
    await eventually(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)
