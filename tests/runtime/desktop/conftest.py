"""A desktop that runs, with xterm to type into."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import psutil
import pytest

from tests.support.runtime import Client
from tests.support.waiting import TIMEOUT

T = TypeVar("T")

XTERM = ["xterm", "-geometry", "80x24+40+60", "-bg", "white", "-fg", "black", "-fa", "DejaVu Sans Mono"]


@pytest.fixture
async def desktop(client: Client) -> Client:
    """A client of a runtime with the desktop `main`, of 640 × 480 pixels."""
    await client.ask("desktop.start", width=640, height=480)
    return client


def programs(*names: str) -> list[psutil.Process]:
    """The descendants of this process with these names, zombies included. Others may end while they are read."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if process.name() in names:
                found.append(process)
    return found


async def until(read: Callable[[], Awaitable[T]]) -> T:
    """Poll until `read` returns something true, and return it: a desktop reports no event when a program has drawn."""
    async with asyncio.timeout(TIMEOUT):
        while not (found := await read()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return found
