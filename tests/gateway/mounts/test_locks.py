"""Locks of mounts, shared by the gateways on one machine."""

import asyncio
from pathlib import Path

import pytest

from hawse_gateway.mounts.locks import MountLocks


async def test_another_gateway_waits_for_a_mount(tmp_path: Path) -> None:
    one, other = MountLocks(tmp_path / "locks"), MountLocks(tmp_path / "locks")
    async with one.exclusive("m-1"):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3), other.exclusive("m-1"):
                pass
        async with other.exclusive("m-2"):
            pass
    async with asyncio.timeout(30), other.exclusive("m-1"):
        pass


async def test_the_file_of_a_mount_is_removed_with_it_also_while_another_gateway_waits(tmp_path: Path) -> None:
    folder = tmp_path / "locks"
    one, other = MountLocks(folder), MountLocks(folder)
    entered, leave = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        async with other.exclusive("m-1"):
            entered.set()
            await leave.wait()

    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        async with one.exclusive("m-1"):
            tasks.create_task(wait())
            await asyncio.sleep(0)
            one.remove("m-1")
        await entered.wait()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3), one.exclusive("m-1"):
                pass
        other.remove("m-1")
        leave.set()
    assert list(folder.iterdir()) == []
