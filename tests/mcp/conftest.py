"""A gateway that the tests of this package share, and an agent: a client of the MCP library, in this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from mcp.client.client import Client as McpClient

import hawse
from hawse.client import Sandbox
from hawse.mcp.server import make_server
from hawse.mcp.tool import ServerOptions
from tests.support.mcp_agent import Agent, OpenAgent
from tests.support.stack import Stack


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with Stack(tmp_path_factory.mktemp("m") / "state") as stack:
        yield stack


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def box(stack: Stack) -> AsyncIterator[Sandbox]:
    async with hawse.connect(stack.base, token=stack.token) as client:
        yield client.sandbox()


@pytest.fixture
def agent(box: Sandbox) -> OpenAgent:
    """Opens an agent: `async with agent() as call: await call("exec", command="ls")`."""

    @asynccontextmanager
    async def open_agent(**options: Any) -> AsyncIterator[Agent]:
        async with McpClient(make_server(lambda _: box, ServerOptions(**options))) as client:
            yield Agent(client)

    return open_agent
