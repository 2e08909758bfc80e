"""Addresses, headers, and which refusals are final."""

import socket
import ssl
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from hawse.client.base.errors import RefusedError
from hawse.client.connection.dial import (
    NOTSENT_LOWAT,
    DialError,
    address,
    base,
    client_name,
    dial,
    refusal_of_close,
    token_in,
    trust,
)
from hawse.wire import HawseError
from tests.support.certificates import Authority
from tests.support.client import mute_server
from tests.support.stack import free_port


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8080", "ws://127.0.0.1:8080/v1/connect"),
        ("https://box.example/", "wss://box.example/v1/connect"),
        ("ws://[::1]:80", "ws://[::1]:80/v1/connect"),
        ("wss://box.example/team/a/", "wss://box.example/team/a/v1/connect"),
        ("wss://box.example/v1/connect", "wss://box.example/v1/connect"),
        ("http://127.0.0.1:8080/#token=abc", "ws://127.0.0.1:8080/v1/connect"),
    ],
)
def test_any_spelling_of_a_gateway_is_an_address(url: str, expected: str) -> None:
    assert address(url) == expected


@pytest.mark.parametrize("url", ["", "127.0.0.1:8080", "ftp://x", "http://", "http://[", "http://x:y"])
def test_an_invalid_url_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError):
        address(url)


def test_the_token_of_a_printed_address_is_found() -> None:
    assert token_in("http://127.0.0.1:8080/#token=a%2Bb") == "a+b"
    assert token_in("http://127.0.0.1:8080/") is None


@pytest.mark.parametrize(("code", "final"), [(1007, True), (1008, True), (1009, True), (4401, True), (4403, True)])
def test_a_close_that_no_retry_can_help_is_final(code: int, final: bool) -> None:
    assert isinstance(refusal_of_close(code, "", None), RefusedError)


@pytest.mark.parametrize("code", [None, 1000, 1001, 1006, 1011, 1012, 4408, 4429])
def test_any_other_close_is_not(code: int | None) -> None:
    assert refusal_of_close(code, "", None) is None


def test_the_servers_error_message_is_kept() -> None:
    last = HawseError("credit_exceeded", "5 bytes too many", details={"ch": 1})
    refusal = refusal_of_close(1008, "x", last)
    assert refusal
    assert (refusal.code, refusal.message, refusal.details) == ("credit_exceeded", "5 bytes too many", {"ch": 1})
    refusal = refusal_of_close(4403, "", None)
    assert refusal
    assert (refusal.code, refusal.message) == ("forbidden", "closed with 4403")


Answer = Callable[[ServerConnection, Request], Awaitable[Response | None]]


async def dialled(answer: Answer) -> None:
    async def nothing(websocket: ServerConnection) -> None:
        await websocket.wait_closed()

    async with serve(nothing, "127.0.0.1", 0, process_request=answer, subprotocols=["hawse.v1"]) as server:  # type: ignore[list-item]
        port = next(iter(server.sockets)).getsockname()[1]
        async with await dial(f"ws://127.0.0.1:{port}/v1/connect", token="t", timeout=5) as websocket:
            raw = websocket.transport.get_extra_info("socket")
            assert raw.getsockopt(socket.IPPROTO_TCP, 25) == NOTSENT_LOWAT
            assert websocket.subprotocol == "hawse.v1"
            assert not websocket.protocol.extensions


def test_authorities_are_a_file_of_certificates_or_a_context(tmp_path: Path) -> None:
    context = ssl.create_default_context()
    assert trust(context) is context
    assert trust(None) is None
    authority = Authority(tmp_path)
    loaded = trust(authority.path)
    assert loaded is not None
    assert len(loaded.get_ca_certs()) == 1
    for name, text in (("none.pem", None), ("empty.pem", "")):
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match="does not contain PEM certificates"):
            trust(tmp_path / name)


async def test_the_request_has_a_user_agent_and_a_subprotocol() -> None:
    seen: list[Request] = []

    async def answer(websocket: ServerConnection, request: Request) -> None:
        seen.append(request)

    await dialled(answer)
    assert seen[0].path == "/v1/connect"
    assert seen[0].headers["Authorization"] == "Bearer t"
    assert seen[0].headers["User-Agent"] == client_name()


def http(status: int, body: str = "") -> Answer:
    async def answer(websocket: ServerConnection, request: Request) -> Response:
        return websocket.respond(HTTPStatus(status), body)

    return answer


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (403, '{"code": "origin_denied", "message": "no"}', "origin_denied"),
        (403, "<html>", "forbidden"),
        (401, "[]", "unauthenticated"),
        (404, "", "not_found"),
        (400, '{"code": "protocol_error"}', "protocol_error"),
    ],
)
async def test_a_refusal_over_http_is_final_and_keeps_its_code(status: int, body: str, code: str) -> None:
    with pytest.raises(RefusedError) as caught:
        await dialled(http(status, body))
    assert caught.value.code == code
    assert body.startswith("{") or "may not be the address of a gateway" in caught.value.message


@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_a_server_in_trouble_is_tried_again(status: int) -> None:
    with pytest.raises(DialError, match=str(status)):
        await dialled(http(status))


async def test_a_token_with_a_line_feed_is_refused_and_not_printed() -> None:
    with pytest.raises(RefusedError) as caught:
        await dial("ws://127.0.0.1:1/", token="secret\n", timeout=5)
    assert caught.value.code == "unauthenticated"
    assert "secret" not in str(caught.value)


async def test_a_refused_tcp_connection_is_retried() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(DialError):
            await dial(f"ws://127.0.0.1:{unused.getsockname()[1]}/", token=None, timeout=5)


async def test_a_server_that_does_not_answer_is_retried() -> None:
    async with mute_server() as port:
        with pytest.raises(DialError, match="timed out"):
            await dial(f"ws://127.0.0.1:{port}/", token=None, timeout=0.05)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h:1/", "http://h:1"),
        ("wss://h/prefix/", "https://h/prefix"),
        ("ws://[::1]:80/v1/connect#token=x", "http://[::1]:80"),
    ],
)
def test_the_gateways_address_is_known_from_the_sockets(url: str, expected: str) -> None:
    assert base(address(url)) == expected


async def test_an_address_that_refuses_is_named() -> None:
    port = free_port()
    with pytest.raises(DialError, match=f"^the connection to 127.0.0.1:{port} was refused$"):
        await dial(address(f"http://127.0.0.1:{port}"), token=None, timeout=10)
