"""A fake server and a client on it."""

from collections.abc import AsyncIterator

import pytest

import hawse
from tests.support.client import QUICK
from tests.support.fake_server import FakeServer
from tests.support.proxy import CuttingProxy


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as server:
        yield server


@pytest.fixture
async def proxy(server: FakeServer) -> AsyncIterator[CuttingProxy]:
    """A proxy whose connections a test can cut."""
    async with CuttingProxy(server.port) as proxy:
        yield proxy


@pytest.fixture
async def hw(server: FakeServer) -> AsyncIterator[hawse.Client]:
    """A client that is connected directly."""
    async with hawse.connect(server.url, options=QUICK) as hw:
        yield hw


@pytest.fixture
async def cut_hw(proxy: CuttingProxy) -> AsyncIterator[hawse.Client]:
    """A client behind the proxy."""
    async with hawse.connect(proxy.url, options=QUICK) as hw:
        yield hw
