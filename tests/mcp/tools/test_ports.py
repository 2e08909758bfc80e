import pytest

from tests.support.mcp_agent import OpenAgent

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_port_gets_an_address(agent: OpenAgent) -> None:
    async with agent() as call:
        first = await call("port_expose", port=8000)
        assert "8000-local-" in first
        assert await call("port_expose", port=8000) == first
