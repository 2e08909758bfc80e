"""The gateway's tests run on the gateway's own event loop, and look at what it leaves behind."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import uvloop

from tests.gateway.fakes import FakeRuntime, Gateway


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
