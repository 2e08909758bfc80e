"""A fake server and a client on it: the asynchronous one, and the synchronous one through a bridge."""

from collections.abc import AsyncIterator

import pytest

import hawse
from tests.support import sync_bridge
from tests.support.client import QUICK
from tests.support.fake_server import FakeServer
from tests.support.proxy import CuttingProxy
from tests.support.sync_bridge import Connect


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test that connects a client with both clients, unless it is marked `async_only`."""
    if "connect" in metafunc.fixturenames:
        only = metafunc.definition.get_closest_marker("async_only") is not None
        metafunc.parametrize("connect", ["async"] if only else ["async", "sync"], indirect=True)


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Connect:
    """`hawse.connect`, or what does the same with `hawse.sync`."""
    return hawse.connect if request.param == "async" else sync_bridge.connect


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
async def hw(server: FakeServer, connect: Connect) -> AsyncIterator[hawse.Client]:
    """A client that is connected directly."""
    async with connect(server.url, options=QUICK) as hw:
        yield hw


@pytest.fixture
async def cut_hw(proxy: CuttingProxy, connect: Connect) -> AsyncIterator[hawse.Client]:
    """A client behind the proxy."""
    async with connect(proxy.url, options=QUICK) as hw:
        yield hw
