"""The endpoint with machines that violate the protocol. Others are tested in tests/integration/test_join.py."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

import hawse
from hawse.wire.join import AGAIN
from hawse_gateway.connection import join as module
from tests.support.http_clients import http_client
from tests.support.stack import Stack

JOIN = '{"type":"join","runtime":"0123456789abcdef","sandbox":"laptop"}'


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with Stack(tmp_path_factory.mktemp("g") / "state") as stack:
        async with hawse.connect(stack.base, token=stack.token) as hw:
            await hw.sandboxes.create("laptop", provider="joined")
        yield stack


def dial(stack: Stack, *, token: str | None = None, **options: Any) -> connect:
    options = {"subprotocols": ["hawse.join.v1"], "proxy": None, "compression": None} | options
    headers = {"Authorization": f"Bearer {token or stack.token}", **options.pop("headers", {})}
    return connect(f"ws://127.0.0.1:{stack.port}/v1/join", additional_headers=headers, **options)


async def refused(websocket: ClientConnection) -> tuple[str, int]:
    """Return the code of the refusal, and the close code."""
    code = msgspec.json.decode(await websocket.recv())["code"]
    with pytest.raises(ConnectionClosed):
        await websocket.recv()
    assert websocket.close_code is not None
    return code, websocket.close_code


@pytest.mark.asyncio(loop_scope="module")
class TestJoin:
    @pytest.mark.parametrize(
        ("message", "code", "close_code"),
        [
            (b"early", "protocol_error", 1008),
            ("nonsense", "invalid_message", 1007),
            ('{"type":"leave"}', "protocol_error", 1008),
            (" " * 5000, "protocol_error", 1009),
            ('{"type":"join","runtime":"0123456789abcdef"}', "invalid_params", 4400),
            ('{"type":"join","runtime":"0123456789abcdef","sandbox":"local"}', "conflict", 4409),
            ('{"type":"join","runtime":"0123456789abcdef","sandbox":"unknown"}', "not_found", 4400),
        ],
    )
    async def test_a_first_message_that_is_not_a_join_is_refused(
        self, stack: Stack, message: str | bytes, code: str, close_code: int
    ) -> None:
        async with dial(stack) as websocket:
            await websocket.send(message)
            assert await refused(websocket) == (code, close_code)

    async def test_a_wrong_token_is_refused_after_the_upgrade(self, stack: Stack) -> None:
        async with dial(stack, token="wrong") as websocket:
            assert await refused(websocket) == ("unauthenticated", 4401)

    @pytest.mark.parametrize(
        ("options", "status"),
        [({"subprotocols": ["hawse.v1"]}, 400), ({"headers": {"Origin": "https://other.example"}}, 403)],
    )
    async def test_another_subprotocol_or_origin_is_refused_before_it(
        self, stack: Stack, options: dict[str, Any], status: int
    ) -> None:
        with pytest.raises(InvalidStatus) as caught:
            async with dial(stack, **options):
                pass
        assert caught.value.response.status_code == status

    async def test_bytes_before_the_gateway_sends_any_end_the_machine(self, stack: Stack) -> None:
        async with dial(stack) as websocket:
            await websocket.send(JOIN)
            assert msgspec.json.decode(await websocket.recv()) == {"type": "joined", "sandbox": "laptop"}
            await websocket.send(b"early")
            assert await refused(websocket) == ("protocol_error", 1008)

    async def test_a_machine_that_speaks_nonsense_on_the_link_is_asked_to_connect_again(self, stack: Stack) -> None:
        headers = {"Authorization": f"Bearer {stack.token}"}
        async with dial(stack) as websocket, http_client(stack.base, headers=headers, timeout=60) as http:
            await websocket.send(JOIN)
            await websocket.recv()
            async with asyncio.TaskGroup() as tasks:
                call = tasks.create_task(http.post("/v1/sandboxes/laptop/exec", json={"command": "true"}))
                assert isinstance(await websocket.recv(), bytes)  # `hello`
                await websocket.send(b"\0\0\0\4oops")
                with pytest.raises(ConnectionClosed):
                    while True:
                        await websocket.recv()
                assert websocket.close_code == AGAIN
                assert (await call).status_code == 503

    async def test_a_request_that_is_not_a_websocket_gets_an_explanation(self, stack: Stack) -> None:
        async with http_client(stack.base, timeout=10) as http:
            answer = await http.get("/v1/join", headers={"Authorization": f"Bearer {stack.token}"})
        assert answer.status_code == 426


def test_the_limits_are_stated(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "wire.md").read_text()
    assert f"{module.MACHINES} machines" in text
    assert f"within {module.HELLO_TIMEOUT:g} s" in text
