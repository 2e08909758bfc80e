import pytest

from hawse.api import METHODS
from hawse.mcp.methods import CURATED, method_tools
from tests.support.mcp_agent import OpenAgent

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_method_is_called_with_its_own_parameters(agent: OpenAgent) -> None:
    async with agent(every_method=True) as call:
        assert '"created": true' in await call("file_mkdir", path="made")
        assert '"type": "directory"' in await call("file_stat", path="made")
        assert "not_found" in await call.fails("file_stat", path="missing")
        assert "invalid arguments" in await call.fails("file_stat")
        assert '"version"' in await call("runtime_info")


async def test_a_long_result_is_cut(agent: OpenAgent) -> None:
    async with agent(every_method=True, limit=1024) as call:
        for _ in range(6):
            await call("exec", command="true " * 100)
        assert "are omitted here: ask for less" in await call("process_list")


async def test_streams_are_no_tools_and_all_other_methods_can_be() -> None:
    every = method_tools(every=True)
    assert len(every) == sum(not spec.stream for spec in METHODS.values())
    assert {name.replace(".", "_") for name in CURATED} <= every.keys()
