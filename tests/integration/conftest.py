"""Fixtures of the integration tests: a real gateway and runtime, and a log written by a terminal's program."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support import flood
from tests.support.stack import Stack


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """The gateway shared by all tests of this process that use `stack`."""
    async with Stack(tmp_path_factory.mktemp("g") / "state") as stack:
        yield stack


@pytest_asyncio.fixture(loop_scope="session")
async def stack(gateway: Stack) -> Stack:
    """The shared gateway, with only a new sandbox `local`.

    It is not isolated: tests see the same names in /proc and in the file system as the sandbox.
    """
    await gateway.renew()
    return gateway


@pytest_asyncio.fixture
async def new_stack(tmp_path: Path) -> AsyncIterator[Stack]:
    """A separate gateway for the test, whose sandbox has not been started."""
    async with Stack(tmp_path / "state") as stack:
        yield stack


class Flood:
    """A program that prints numbered lines and logs its input: see tests/support/flood.py."""

    def __init__(self, log: Path, burst: int, pause: float) -> None:
        self.log = log
        self.argv = [sys.executable, flood.__file__, str(log), str(burst), str(pause)]

    def typed(self) -> bytes:
        return self.log.read_bytes()


@pytest.fixture
def make_flood(tmp_path: Path):
    def make(*, burst: int = 500, pause: float = 0.002) -> Flood:
        return Flood(tmp_path / "typed", burst, pause)

    return make
