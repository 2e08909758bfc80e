"""Tests with real kernels, on one runtime for each module: a kernel host and a kernel each take a second of CPU time.

The pool is empty unless a test asks for it. A test with other `limits` has a separate runtime.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from hawse.code_pool import PoolLimits
from hawse_runtime.code.limits import CodeLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Client, Served

NO_POOL = RuntimeLimits(code=CodeLimits(pool=PoolLimits(size=0)))


@pytest.fixture
def limits() -> RuntimeLimits:
    return NO_POOL


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """The runtime of all tests of a module. Its kernel host starts when the first of them needs it."""
    async with Served(tmp_path_factory.mktemp("code"), limits=NO_POOL) as served:
        yield served


@pytest_asyncio.fixture(loop_scope="module")
async def served(shared: Served, limits: RuntimeLimits, tmp_path: Path) -> AsyncIterator[Served]:
    if limits is NO_POOL:
        yield shared
        return
    async with Served(tmp_path, limits=limits) as served:
        yield served


@pytest_asyncio.fixture(loop_scope="module")
async def client(served: Served) -> AsyncIterator[Client]:
    """A client. At the end of the test, all contexts are deleted."""
    async with served.client() as client:
        yield client
        for context in (await client.ask("code.list"))["contexts"]:
            await client.ask("code.delete", context=context["id"])
