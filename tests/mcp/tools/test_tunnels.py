import pytest

from tests.support.mcp_agent import OpenAgent

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_tunnel_is_created_listed_and_deleted(agent: OpenAgent) -> None:
    async with agent() as call:
        url = await call("tunnel_create", port=8000, name="of-agent", expires_in=600)
        assert url.startswith("http://t-of-agent.localhost")
        assert await call("tunnel_list") == f"of-agent  port 8000  {url}"
        assert "conflict" in await call.fails("tunnel_create", port=8001, name="of-agent")
        assert "--tunnel-ports" in await call.fails("tunnel_create", port=22, kind="tcp")
        assert await call("tunnel_delete", id="of-agent") == "tunnel of-agent deleted"
        assert await call("tunnel_list") == "there are none"
        assert "not_found" in await call.fails("tunnel_delete", id="of-agent")
