"""The runtime's tests run on its own event loop, against a real runtime on a real socket, and see what it leaves."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import uvloop

from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.posix.process_tree import ProcessTrees
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Client, Served


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
def limits() -> RuntimeLimits:
    """The limits of `served`. A test that needs others parametrizes this fixture directly."""
    return RuntimeLimits()


@pytest.fixture
def pools() -> Iterator[ThreadPools]:
    pools = ThreadPools()
    yield pools
    pools.close()


@pytest.fixture
def trees(pools: ThreadPools) -> Iterator[ProcessTrees]:
    trees = ProcessTrees(pools.kill)
    yield trees
    trees.close()


@pytest.fixture
async def served(tmp_path: Path, limits: RuntimeLimits) -> AsyncIterator[Served]:
    async with Served(tmp_path, limits=limits) as served:
        yield served


@pytest.fixture
async def client(served: Served) -> AsyncIterator[Client]:
    async with served.client() as client:
        yield client
