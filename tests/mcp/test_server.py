import asyncio

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import ToolAnnotations

from hawse import __version__
from hawse.client import Sandbox
from hawse.mcp.server import all_tools
from tests.support.mcp_agent import OpenAgent

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_server_says_what_it_is_for(agent: OpenAgent) -> None:
    async with agent() as call:
        assert call.client.server_info is not None
        assert call.client.server_info.version == __version__
        assert "sandbox" in (call.client.instructions or "")
        with pytest.raises(MCPError, match="no tool"):
            await call("rm_rf")


async def test_tools_that_change_nothing_say_so(agent: OpenAgent) -> None:
    async with agent() as call:
        tools = {tool.name: tool for tool in (await call.client.list_tools()).tools}
    assert tools["file_read"].annotations == ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True
    )
    assert tools["exec"].annotations == ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=False
    )
    assert tools["file_delete"].annotations == ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=True
    )
    assert tools["backup_create"].annotations == ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=False
    )


async def test_tools_are_offered_where_the_sandbox_has_what_they_are_for(agent: OpenAgent, box: Sandbox) -> None:
    async with agent() as call:
        tools = {tool.name for tool in (await call.client.list_tools()).tools}
    assert ("desktop_click" in tools) is (await box.desktop.unavailable() is None)
    assert tools.isdisjoint({"mount_list", "egress_refusals"})  # it has no mounts, and its network is not filtered
    assert {"tunnel_create", "exec"} <= tools


async def test_the_same_thing_has_the_same_name_in_all_tools() -> None:
    names = {name for tool in all_tools().values() for name in tool.schema()["properties"]}
    assert names.isdisjoint({"session", "context", "tunnel", "backup", "regex", "literal", "root", "instance"})


async def test_a_cancelled_call_ends_what_it_started(agent: OpenAgent, box: Sandbox) -> None:
    before = {info.id for info in await box.processes.list()}
    begun = asyncio.Event()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        begun.set()

    async with agent() as call, asyncio.TaskGroup() as tasks:
        command = {"command": "echo begun; exec sleep 1000"}
        running = tasks.create_task(call.client.call_tool("exec", command, progress_callback=note))
        await begun.wait()
        running.cancel()
        (ours,) = [info.id for info in await box.processes.list() if info.id not in before]
        ended = await box.processes.attach(ours)
        assert (await ended.wait()).signal == "SIGTERM"
        ended.close()


async def test_progress_reaches_the_client(agent: OpenAgent) -> None:
    lines: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        lines.append(message)

    async with agent() as call:
        await call.client.call_tool("exec", {"command": "echo first"}, progress_callback=note)
    assert lines == ["first"]
