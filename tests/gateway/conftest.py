"""The gateway's tests run on the gateway's own event loop, and check for leftovers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
import uvloop

from tests.support.gateway import FakeRuntime, Gateway
from tests.support.previewed import Previewed, previewed


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[FakeRuntime]:
    async with FakeRuntime(tmp_path / "runtime.sock") as fake:
        yield fake


@pytest.fixture
async def gateway(runtime: FakeRuntime) -> AsyncIterator[Gateway]:
    async with Gateway(runtime) as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def preview(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Previewed]:
    """One for all tests of a module, which then run in one loop."""
    async with previewed(tmp_path_factory.mktemp("preview")) as preview:
        yield preview
