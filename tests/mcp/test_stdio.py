"""A whole task by a scripted agent, which uses each tool of a real `hawse mcp` process."""

import asyncio
import json
import signal
import sys

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from hawse.client import Sandbox
from tests.support.mcp_agent import Agent
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_agent_works_with_each_tool(stack: Stack) -> None:
    arguments = ["-m", "hawse.cli", "mcp", "--url", stack.base, "--token", stack.token]
    command = StdioServerParameters(command=sys.executable, args=arguments)
    async with Client(stdio_client(command)) as client:
        call = Agent(client)
        await edit_a_program(call)
        await serve_it(call)
        await use_a_terminal(call)
        await compute(call)
        await save_it(call)
        await use_a_desktop(call)
        await tidy_up(call)
        offered = {tool.name for tool in (await client.list_tools()).tools}
    assert call.used == offered


async def use_a_desktop(call: Agent) -> None:
    assert "1280 × 800 pixels" in await call("desktop_screenshot")
    assert "started as process" in await call("desktop_launch", command="xterm")
    await call("desktop_click", x=100, y=100)
    await call("desktop_type", text="exit")
    await call("desktop_key", keys="Return")
    await call("desktop_scroll", x=100, y=100, dy=2)


async def edit_a_program(call: Agent) -> None:
    await call("file_write", path="site/index.html", content="<h1>Hello</h1>\n")
    assert await call("file_edit", path="site/index.html", old="Hello", new="Goodbye") == "replaced 1 time"
    assert await call("file_read", path="site/index.html") == "<h1>Goodbye</h1>\n"
    assert "site/index.html  17" in await call("file_list", recursive=True)
    assert await call("file_search", pattern="<h[1-6]>", path="site") == "index.html:1:<h1>Goodbye</h1>"
    patch = "@@ -1 +1 @@\n-<h1>Goodbye</h1>\n+<h1>Goodbye!</h1>\n"
    assert await call("file_patch", path="site/index.html", patch=patch) == "applied 1 hunk"
    await call("exec", command="tar -cf site.tar site")
    assert await call("file_extract", path="site.tar", to="copy", strip=1) == "1 entry, 18 bytes"
    assert await call("file_read", path="copy/index.html") == "<h1>Goodbye!</h1>\n"
    await call("file_rename", path="site", to="www")


async def serve_it(call: Agent) -> None:
    port = free_port()
    server = f"exec {sys.executable} -u -m http.server {port} --bind 127.0.0.1"
    await call("process_start", id="site", command=server, cwd="www")
    assert await call("process_wait", id="site", port=port) == f"port {port} is open"
    assert f'"port": {port}' in await call("port_list")
    assert str(port) in await call("port_expose", port=port)
    assert "t-of-agent" in await call("tunnel_create", port=port, name="of-agent")
    assert "of-agent" in await call("tunnel_list")
    await call("tunnel_delete", id="of-agent")
    fetch = f"{sys.executable} -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:{port}\").read())'"
    assert "Goodbye" in await call("exec", command=fetch)
    assert "GET / HTTP/1.1" in await call("process_output", id="site", stream="stderr")
    assert '"id": "site"' in await call("process_list")
    assert '"signal": "SIGTERM"' in await call("process_kill", id="site")


async def use_a_terminal(call: Agent) -> None:
    await call("terminal_open", command="cat", cols=40, rows=10)
    # The terminal prints what is typed at once, and `cat` prints it again when it runs: on a busy machine, later.
    assert (await call("terminal_send", text="typed", keys=["enter"])).startswith("typed\n")
    shown = await call("terminal_wait", pattern=r"typed\s+typed")
    assert shown.startswith("typed\ntyped\n[40×10, cursor in row 3, column 1")
    assert await call("terminal_screen") == shown
    assert '"id": "agent"' in await call("terminal_list")
    asked = await call("terminal_ask", id="agent", reason="look", takeover=True, timeout=0.1)
    assert "not answered within 0.1 s" in asked
    await call("terminal_kill", id="agent")


async def compute(call: Agent) -> None:
    await call("session_exec", command="cd www; NAME=index")
    assert (await call("session_exec", command="ls $NAME.html")).startswith("index.html\n")
    assert await call("code_run", source="x = 6\nx * 7") == "42"


async def save_it(call: Agent) -> None:
    await call("file_write", path="saved/f", content="one")
    made = await call("backup_create", path="saved")
    id = made.split()[1].rstrip(":")
    await call("file_write", path="saved/f", content="two")
    assert id in await call("backup_list")
    await call("backup_restore", id=id)
    assert "one" in await call("file_read", path="saved/f")
    await call("backup_delete", id=id)


async def tidy_up(call: Agent) -> None:
    await call("file_delete", path="www", recursive=True)
    assert "www" not in await call("file_list")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_the_tools_that_run(stack: Stack, box: Sandbox, number: signal.Signals) -> None:
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hawse.cli", "mcp", "--url", stack.base, "--token", stack.token),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    client = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    run = {"name": "process_start", "arguments": {"id": "before", "command": "true"}}
    wait = {"name": "exec", "arguments": {"command": "touch begun; exec sleep 1000"}}
    for message in (
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": run},
        {"id": 3, "method": "tools/call", "params": wait},
    ):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    assert b'"id":1' in await server.stdout.readline()
    assert b'"id":2' in await server.stdout.readline()
    await box.exec("until [ -e begun ]; do :; done; rm begun")
    server.send_signal(number)
    assert await server.wait() == -number
    running = [info for info in await box.processes.list() if info.exit is None]
    assert [info for info in running if "sleep 1000" in " ".join(info.argv)] == []
