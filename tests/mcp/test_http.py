import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import httpx2
import pytest
import uvicorn
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

import hawse
from hawse.mcp.http import Clients, make_app
from hawse.mcp.tool import ServerOptions
from hawse.wire import HawseError
from tests.support.http_clients import http_client
from tests.support.mcp_agent import Agent
from tests.support.stack import Stack

LIST_TOOLS = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}

pytestmark = pytest.mark.asyncio(loop_scope="session")


@asynccontextmanager
async def served(stack: Stack) -> AsyncIterator[str]:
    """The address of a server for the gateway `stack`. Requests wait until it has started."""
    app = make_app(lambda token: hawse.connect(stack.base, token=token), "local", "127.0.0.1", ServerOptions())
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(server.serve(sockets=[listener]))
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
            server.should_exit = True
            await serving


async def test_tools_are_called_with_the_rights_of_the_token(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as owner, served(stack) as url:
        viewer = await owner.tokens.create(role="viewer")
        for token, allowed in ((stack.token, True), (viewer.token, False)):
            headers = {"Authorization": f"Bearer {token}"}
            async with (
                httpx2.AsyncClient(headers=headers, trust_env=False) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                call = Agent(client)
                if allowed:
                    assert (await call("exec", command="echo over HTTP")).startswith("over HTTP\n")
                else:
                    assert "forbidden" in await call.fails("exec", command="echo over HTTP")


async def test_a_request_without_a_valid_token_is_refused(stack: Stack) -> None:
    async with served(stack) as url, http_client() as http:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}):
            answer = await http.post(url, json={}, headers=headers)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="hawse"')
        foreign = {"Authorization": f"Bearer {stack.token}", "Host": "evil.example"}
        assert (await http.post(url, json={}, headers=foreign)).status_code == 421


async def test_a_session_is_used_and_ended_only_by_the_user_that_has_opened_it(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as owner, served(stack) as url, http_client() as http:
        ada, ada_again, eve = [
            (await owner.tokens.create(role="operator", user=user)).token for user in ("ada", "ada", "eve")
        ]

        async def ask(token: str, method: str, session: str | None, body: object = None) -> httpx.Response:
            headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
            if session is not None:
                headers["Mcp-Session-Id"] = session
            return await http.request(method, url, headers=headers, json=body)

        opened = await ask(ada, "POST", None, INITIALIZE)
        session = opened.headers["mcp-session-id"]
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        for token in (eve, stack.token):
            for method, body in (("POST", ready), ("POST", LIST_TOOLS), ("GET", None), ("DELETE", None)):
                assert (await ask(token, method, session, body)).status_code == 404
        assert (await ask(ada, "POST", session, ready)).status_code == 202
        assert (await ask(ada_again, "POST", session, LIST_TOOLS)).status_code == 200
        assert (await ask(ada, "DELETE", session)).status_code == 200
        assert (await ask(ada, "POST", session, LIST_TOOLS)).status_code == 404


async def test_an_idle_client_makes_room_and_one_in_use_does_not(stack: Stack) -> None:
    clients = Clients(lambda token: hawse.connect(stack.base, token=stack.token), limit=1)
    async with clients.use("a") as first:
        with pytest.raises(HawseError, match="1 users"):
            async with clients.use("b"):
                pass
    async with clients.use("a") as again:
        assert again is first
    async with clients.use("b"):
        assert first.state is hawse.ConnectionState.CLOSED
    await clients.close()


async def test_a_token_that_was_refused_is_not_kept(stack: Stack) -> None:
    clients = Clients(lambda token: hawse.connect(stack.base, token=token))
    for _ in range(2):
        with pytest.raises(HawseError, match="token"):
            async with clients.use("wrong"):
                pass
    await clients.close()
