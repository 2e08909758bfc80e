"""An agent that uses `hawse mcp`: calls tools and reads their answers."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from mcp.client.client import Client


class Agent:
    """Calls tools."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.used: set[str] = set()

    async def __call__(self, tool: str, **arguments: Any) -> str:
        """Return the text of a tool's answer. Raises `AssertionError` if the tool fails."""
        result = await self.result(tool, **arguments)
        assert not result.is_error, result.content
        return str(result.content[0].text)

    async def result(self, tool: str, **arguments: Any) -> Any:
        """Return a tool's complete answer."""
        self.used.add(tool)
        return await self.client.call_tool(tool, arguments)

    async def read(self, uri: str) -> Any:
        """Return the content of a resource."""
        return (await self.client.read_resource(uri)).contents[0]

    async def fails(self, tool: str, **arguments: Any) -> str:
        """Return the answer of a failing tool."""
        result = await self.result(tool, **arguments)
        assert result.is_error, result.content
        return str(result.content[0].text)


OpenAgent = Callable[..., AbstractAsyncContextManager[Agent]]
