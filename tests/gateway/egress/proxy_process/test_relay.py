"""Connections of programs, with real servers behind the relay."""

import asyncio
import base64
import hashlib
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from hawse.api.egress import EgressPolicy
from hawse_gateway.egress.certificates import Authority, new_authority
from hawse_gateway.egress.plan import Terms
from hawse_gateway.egress.proxy_process.relay import Relay
from hawse_gateway.egress.proxy_process.websocket import GUID
from hawse_gateway.egress.refusals import Ask, Refusals
from hawse_gateway.egress.secrets import Secret
from tests.support.echo_server import EchoServer, Trusted

SECRET = Secret(hosts=["api.test:*"], into="header", name="Authorization", value="s3cret-value", prefix="Bearer ")


class Proxy:
    """A relay that listens on loopback, and what programs do with it."""

    def __init__(self, folder: Path, policy: EgressPolicy) -> None:
        self.trusted = Trusted(folder)
        key, self.certificate = new_authority("sandbox")
        addresses = dict.fromkeys(("api.test", "plain.test", "other.test"), "127.0.0.1")
        self.terms = Terms(
            policy=policy,
            secrets=[SECRET],
            networks=["127.0.0.0/8"],
            addresses={**addresses, "inside.test": "10.0.0.1"},
            trusted=self.trusted.certificate,
        )
        authority = Authority(key, self.certificate)
        self.refusals = Refusals()
        self.relay = Relay(self.terms, authority, self.refusals)

    async def start(self) -> None:
        self.server = await asyncio.start_server(self.relay.serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def raw(self, data: bytes) -> bytes:
        """Send bytes and the end, and return all that comes back."""
        reader, writer = await self.connect()
        writer.write(data)
        writer.write_eof()
        try:
            return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()

    async def tunnel(
        self, authority: str, name: str | None = "api.test"
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """CONNECT, and TLS with SNI `name`."""
        reader, writer = await self.connect()
        writer.write(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head, head
        context = ssl.create_default_context(cadata=self.certificate)
        context.set_alpn_protocols(["h2", "http/1.1"])
        await writer.start_tls(context, server_hostname=name)
        return reader, writer

    async def refused(self) -> list[str]:
        answer = await self.refusals.answer(Ask(), 0)
        await self.refusals.answer(Ask(written=answer.last), 0)
        return [each.reason for each in answer.refusals]


@pytest.fixture
async def proxy(tmp_path: Path) -> AsyncIterator[Proxy]:
    allow = ["api.test:*", "plain.test:*", "GET,HEAD other.test:*", "inside.test:*"]
    made = Proxy(tmp_path, EgressPolicy(allow=allow))
    await made.start()
    yield made
    made.server.close()


async def answer(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Read one answer: its head and its content."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = [line.lower() for line in head.split(b"\r\n")]
    if b"transfer-encoding: chunked" in lines:
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
        return head, body
    length = next(int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length"))
    return head, await reader.readexactly(length)


def request(target: str, host: str, *headers: str, method: str = "GET", body: bytes = b"") -> bytes:
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


async def test_plain_requests_share_a_connection(proxy: Proxy) -> None:
    with EchoServer() as server:
        host = f"plain.test:{server.port}"
        reader, writer = await proxy.connect()
        for number in range(3):
            writer.write(request(f"http://{host}/{number}", host))
            head, body = await answer(reader)
            assert head.startswith(b"HTTP/1.1 200 ")
            assert json.loads(body)["target"] == f"/{number}"
        writer.close()
    assert (proxy.refusals.counters.requests, proxy.refusals.counters.refused) == (3, 0)


async def test_a_secret_reaches_the_server_and_not_the_program(proxy: Proxy) -> None:
    with EchoServer(proxy.trusted) as server:
        host = f"api.test:{server.port}"
        reader, writer = await proxy.tunnel(host)
        writer.write(request("/a", host, "Authorization: mine", "Accept-Encoding: gzip"))
        _, body = await answer(reader)
        writer.close()
    assert ["authorization", "Bearer s3cret-value"] in server.seen[0]["headers"]
    assert b"s3cret" not in body
    assert ["authorization", "Bearer " + "*" * 12] in json.loads(body)["headers"]


async def test_a_plain_request_gets_no_secret(proxy: Proxy) -> None:
    with EchoServer() as server:
        host = f"api.test:{server.port}"
        await proxy.raw(request(f"http://{host}/", host))
    assert "s3cret" not in json.dumps(server.seen)


@pytest.mark.parametrize("connection", [None, "content-encoding"], ids=["plain", "hidden by Connection"])
async def test_a_compressed_answer_to_a_request_with_a_secret_is_refused(proxy: Proxy, connection: str | None) -> None:
    def compressed(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> bool:
        handler.send_response(200)
        if connection is not None:
            handler.send_header("Connection", connection)
        handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return True

    with EchoServer(proxy.trusted, answer=compressed) as server:
        host = f"api.test:{server.port}"
        reader, writer = await proxy.tunnel(host)
        writer.write(request("/a", host))
        assert (await answer(reader))[0].startswith(b"HTTP/1.1 502 ")
        writer.close()
    assert await proxy.refused() == ["encoding"]


@pytest.mark.parametrize("status", [206, 226])
async def test_pieces_of_an_answer_to_a_request_with_a_secret_are_refused(proxy: Proxy, status: int) -> None:
    """A server sends them unasked: the proxy does not pass on `Range`."""

    def piece(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> bool:
        authorization = dict(request["headers"])["authorization"][:10].encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(authorization)))
        handler.end_headers()
        handler.wfile.write(authorization)
        return True

    with EchoServer(proxy.trusted, answer=piece) as server:
        host = f"api.test:{server.port}"
        reader, writer = await proxy.tunnel(host)
        writer.write(request("/a", host, "Range: bytes=0-9"))
        head, body = await answer(reader)
        writer.close()
    assert head.startswith(b"HTTP/1.1 502 ")
    assert b"s3c" not in body
    assert all(name != "range" for name, _ in server.seen[0]["headers"])
    assert await proxy.refused() == ["encoding"]


async def test_an_answer_that_is_not_http_does_not_tell_a_secret(proxy: Proxy) -> None:
    def repeat(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> bool:
        handler.wfile.write(dict(request["headers"])["authorization"].encode() + b"\r\n\r\n")
        handler.close_connection = True
        return True

    with EchoServer(proxy.trusted, answer=repeat) as server:
        host = f"api.test:{server.port}"
        reader, writer = await proxy.tunnel(host)
        writer.write(request("/a", host))
        head, body = await answer(reader)
        writer.close()
    assert head.startswith(b"HTTP/1.1 502 ")
    assert b"s3cret" not in body


async def test_large_bodies_in_both_directions(proxy: Proxy) -> None:
    content = b"0123456789abcdef" * (1 << 16)
    with EchoServer() as server:
        host = f"plain.test:{server.port}"
        reader, writer = await proxy.connect()
        writer.write(request(f"http://{host}/", host, f"Content-Length: {len(content)}", method="PUT", body=content))
        _, body = await answer(reader)
        assert json.loads(body)["body"].encode() == content
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content)
        writer.write(request(f"http://{host}/", host, "Transfer-Encoding: chunked", method="POST", body=chunks))
        _, body = await answer(reader)
        assert json.loads(body)["body"].encode() == content
        writer.close()
    assert proxy.refusals.counters.sent == 2 * len(content)


async def test_a_program_that_waits_for_100_gets_it(proxy: Proxy) -> None:
    with EchoServer() as server:
        host = f"plain.test:{server.port}"
        reader, writer = await proxy.connect()
        writer.write(request(f"http://{host}/", host, "Expect: 100-continue", "Content-Length: 2", method="POST"))
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        writer.write(b"hi")
        assert json.loads((await answer(reader))[1])["body"] == "hi"
        writer.close()


async def test_an_answer_before_the_end_of_a_request(proxy: Proxy) -> None:
    async def early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too large\r\nContent-Length: 2\r\n\r\nno")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(early, "127.0.0.1", 0)
    host = f"plain.test:{server.sockets[0].getsockname()[1]}"
    reader, writer = await proxy.connect()
    writer.write(request(f"http://{host}/", host, "Content-Length: 1000000", method="POST", body=b"x"))
    head, body = await answer(reader)
    assert (head[:12], body) == (b"HTTP/1.1 413", b"no")
    writer.close()
    server.close()


async def test_an_answer_without_an_end_is_not_complete_for_the_program(proxy: Proxy) -> None:
    def half(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Length", "10")
        handler.end_headers()
        handler.wfile.write(b"half")
        handler.close_connection = True
        return True

    with EchoServer(answer=half) as server:
        host = f"plain.test:{server.port}"
        reader, writer = await proxy.connect()
        writer.write(request(f"http://{host}/", host))
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await answer(reader)
        writer.close()


async def test_a_server_that_closes_without_an_answer_is_a_502(proxy: Proxy) -> None:
    def nothing(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> bool:
        handler.close_connection = True
        return True

    with EchoServer(answer=nothing) as server:
        host = f"plain.test:{server.port}"
        head = await proxy.raw(request(f"http://{host}/", host))
        assert head.startswith(b"HTTP/1.1 502 ")
        assert json.loads(head.partition(b"\r\n\r\n")[2])["error"]["code"] == "unavailable"


@pytest.mark.parametrize(
    ("target", "host", "method", "status", "reason"),
    [
        ("http://evil.test/", "evil.test", "GET", 403, "rule"),
        ("http://other.test/", "other.test", "POST", 403, "method"),
        ("http://inside.test/", "inside.test", "GET", 403, "address"),
        ("http://plain.test/", "evil.test", "GET", 421, "mismatch"),
        ("/", "plain.test", "GET", 400, "protocol"),
        ("http://127.1/", "127.1", "GET", 502, "name"),
        ("http://evil.test/", "evil.test", "HEAD", 403, "rule"),
        ("http://plain.test/", "plain.test", "delete", 403, "method"),
    ],
)
async def test_a_refusal_is_typed_and_noted(
    proxy: Proxy, target: str, host: str, method: str, status: int, reason: str
) -> None:
    head, _, body = (await proxy.raw(request(target, host, method=method))).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert f"x-hawse-egress: {reason}".encode() in head
    if method == "HEAD":
        assert body == b""
    else:
        assert json.loads(body)["error"]["code"] == "egress_denied"
    assert await proxy.refused() == [reason]


@pytest.mark.parametrize("authority", ["evil.test:443", "inside.test:443", "127.0.0.1:80", "169.254.169.254:80"])
async def test_a_tunnel_to_elsewhere_is_refused(proxy: Proxy, authority: str) -> None:
    head = await proxy.raw(b"CONNECT %b HTTP/1.1\r\nHost: x\r\n\r\n" % authority.encode())
    assert head.startswith(b"HTTP/1.1 403 ")


async def test_a_tunnel_carries_http_over_tls_and_nothing_else(proxy: Proxy) -> None:
    with EchoServer() as server:
        connect = f"CONNECT api.test:{server.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        reader, writer = await proxy.connect()
        writer.write(connect)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET / HTTP/1.1\r\nHost: api.test\r\n\r\n")
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()
        assert b" 400 " in await proxy.raw(connect + b"\x16\x03\x01")
        assert server.seen == []
    assert await proxy.refused() == ["protocol", "protocol"]


async def test_in_a_tunnel_the_host_cannot_change(proxy: Proxy) -> None:
    with EchoServer(proxy.trusted) as server:
        host = f"api.test:{server.port}"
        for head in (
            request("/", "other.test"),
            request("http://other.test/", host),
            request("other.test:443", "other.test:443", method="CONNECT"),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ):
            reader, writer = await proxy.tunnel(host)
            assert writer.get_extra_info("ssl_object").selected_alpn_protocol() == "http/1.1"
            writer.write(head)
            assert (await answer(reader))[0][:12] in (b"HTTP/1.1 421", b"HTTP/1.1 400", b"HTTP/1.1 403")
            writer.close()
        assert server.seen == []


async def test_another_name_by_sni_is_refused(proxy: Proxy) -> None:
    with EchoServer(proxy.trusted) as server:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await proxy.tunnel(f"api.test:{server.port}", "other.test")
        assert server.seen == []
    assert await proxy.refused() == ["mismatch"]


async def test_new_terms_apply_to_the_next_request_and_close_forbidden_connections(proxy: Proxy) -> None:
    with EchoServer(proxy.trusted) as server:
        host = f"api.test:{server.port}"
        kept, kept_writer = await proxy.tunnel(host)
        closed, closed_writer = await proxy.tunnel(f"plain.test:{server.port}", "plain.test")
        policy = EgressPolicy(allow=["GET api.test:*"])
        assert proxy.relay.change(msgspec.structs.replace(proxy.terms, policy=policy)) == 1
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await closed.readexactly(1)
        kept_writer.write(request("/", host))
        assert (await answer(kept))[0].startswith(b"HTTP/1.1 200 ")
        kept_writer.write(request("/", host, "Content-Length: 0", method="POST"))
        assert (await answer(kept))[0].startswith(b"HTTP/1.1 403 ")
        for writer in (kept_writer, closed_writer):
            writer.close()
    assert await proxy.refused() == ["method"]


async def test_a_request_in_progress_is_closed_if_its_secret_is_taken_away(proxy: Proxy) -> None:
    arrived, go = asyncio.Event(), asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert b"s3cret" in await reader.readuntil(b"\r\n\r\n")
        arrived.set()
        await go.wait()
        writer.close()

    server = await asyncio.start_server(slow, "127.0.0.1", 0, ssl=proxy.trusted.context("api.test"))
    reader, writer = await proxy.tunnel(f"api.test:{server.sockets[0].getsockname()[1]}")
    writer.write(request("/", f"api.test:{server.sockets[0].getsockname()[1]}"))
    await arrived.wait()
    assert proxy.relay.change(proxy.terms) == 0
    assert proxy.relay.change(msgspec.structs.replace(proxy.terms, secrets=[])) == 1
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    go.set()
    writer.close()
    server.close()


async def test_addresses_that_are_no_longer_permitted_are_closed(proxy: Proxy) -> None:
    with EchoServer(proxy.trusted) as server:
        reader, writer = await proxy.tunnel(f"api.test:{server.port}")
        assert proxy.relay.change(msgspec.structs.replace(proxy.terms, networks=[])) == 1
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()


def test_terms_that_are_not_valid_change_nothing(proxy: Proxy) -> None:
    with pytest.raises(ValueError, match="not a rule"):
        proxy.relay.change(msgspec.structs.replace(proxy.terms, policy=EgressPolicy(allow=["a b c"])))


@asynccontextmanager
async def websockets_server(proxy: Proxy) -> AsyncIterator[int]:
    """An echo server, which begins with the headers of the handshake. Yields its port."""

    async def echo(connection: ServerConnection) -> None:
        assert connection.request is not None
        await connection.send(str(connection.request.headers))
        async for message in connection:
            await connection.send(message)

    async with serve(echo, "127.0.0.1", 0, ssl=proxy.trusted.context("api.test")) as server:
        yield next(iter(server.sockets)).getsockname()[1]


def websocket(proxy: Proxy, port: int, **options: Any) -> connect:
    context = ssl.create_default_context(cadata=proxy.certificate)
    return connect(f"wss://api.test:{port}/", proxy=f"http://127.0.0.1:{proxy.port}", ssl=context, **options)


async def test_a_websocket_passes_both_ways_and_its_secret_is_hidden(proxy: Proxy) -> None:
    async with websockets_server(proxy) as port, websocket(proxy, port) as connection:
        headers = str(await connection.recv())
        assert "Authorization: Bearer " + "*" * 12 in headers or "authorization: Bearer " + "*" * 12 in headers
        assert "s3cret" not in headers
        assert "permessage-deflate" not in headers  # of a compressed message it could not be seen what it contains
        for message in ("hi", "s3cr", b"\0" * 200_000):  # the second could be the beginning of the secret
            await connection.send(message)
            assert await connection.recv() == message
        await connection.send("the s3cret-value")
        assert await connection.recv() == "the ************"
    assert await proxy.refused() == []
    assert proxy.refusals.counters.sent > 200_000


async def test_a_message_that_pauses_or_is_cut_within_a_secret_does_not_tell_it(proxy: Proxy) -> None:
    gate = asyncio.Event()

    async def pieces() -> AsyncIterator[str]:
        yield "the s3cr"
        await gate.wait()
        yield "et-value"

    async def server_of_pieces(connection: ServerConnection) -> None:
        await connection.send(pieces())
        await connection.wait_closed()

    async with serve(server_of_pieces, "127.0.0.1", 0, ssl=proxy.trusted.context("api.test")) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with websocket(proxy, port) as connection:
            parts = connection.recv_streaming()
            assert await anext(parts) == "the "
            gate.set()
            assert "".join([str(part) async for part in parts]) == "*" * 12


async def test_frames_that_are_not_valid_end_a_websocket_with_a_secret(proxy: Proxy) -> None:
    async def wrong(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        key = head.lower().partition(b"sec-websocket-key: ")[2].partition(b"\r\n")[0]
        key = head[head.lower().index(key) :][: len(key)]
        accept = base64.b64encode(hashlib.sha1(key + GUID, usedforsecurity=False).digest())
        writer.write(b"HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n")
        writer.write(b"Sec-WebSocket-Accept: %b\r\n\r\n\xc1\x0cs3cret-value" % accept)  # RSV1: compressed
        await reader.read()
        writer.close()

    async with await asyncio.start_server(wrong, "127.0.0.1", 0, ssl=proxy.trusted.context("api.test")) as server:
        port = server.sockets[0].getsockname()[1]
        async with websocket(proxy, port) as connection:
            with pytest.raises(ConnectionClosedError):
                await connection.recv()


async def test_new_terms_close_a_websocket(proxy: Proxy) -> None:
    async with websockets_server(proxy) as port, websocket(proxy, port) as connection:
        await connection.recv()
        assert proxy.relay.change(msgspec.structs.replace(proxy.terms, policy=EgressPolicy(allow=["api.test:*"]))) == 0
        policy = EgressPolicy(allow=["GET,POST api.test:*"])
        assert proxy.relay.change(msgspec.structs.replace(proxy.terms, policy=policy)) == 1
        with pytest.raises(ConnectionClosedError):
            await connection.recv()


@pytest.mark.parametrize(("rule", "allowed"), [("GET api.test:*", False), ("WEBSOCKET api.test:*", True)])
async def test_a_rule_with_methods_allows_a_websocket_only_by_name(proxy: Proxy, rule: str, allowed: bool) -> None:
    proxy.relay.change(msgspec.structs.replace(proxy.terms, policy=EgressPolicy(allow=[rule])))
    async with websockets_server(proxy) as port:
        if allowed:
            async with websocket(proxy, port) as connection:
                await connection.recv()
        else:
            with pytest.raises(InvalidStatus) as caught:
                await websocket(proxy, port)
            assert caught.value.response.status_code == 403
    assert await proxy.refused() == ([] if allowed else ["method"])


HANDSHAKE = [
    *("Upgrade: websocket", "Connection: Upgrade"),
    *("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
]


@pytest.mark.parametrize(
    ("status", "expected"),
    [(b"101 Yes\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: no", b"400"), (b"200 OK\r\nContent-Length: 0", b"200")],
)
async def test_a_server_that_does_not_understand_the_handshake_gets_no_bytes(
    proxy: Proxy, status: bytes, expected: bytes
) -> None:
    received = asyncio.get_running_loop().create_future()

    async def wrong(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %b\r\nConnection: Upgrade\r\n\r\n" % status)
        received.set_result(await reader.read())
        writer.close()

    server = await asyncio.start_server(wrong, "127.0.0.1", 0)
    host = f"plain.test:{server.sockets[0].getsockname()[1]}"
    hidden = b"GET /hidden HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    head = await proxy.raw(request(f"http://{host}/", host, *HANDSHAKE) + hidden)
    assert head.startswith(b"HTTP/1.1 " + expected)
    assert b"hidden" not in await received
    server.close()


PIECES = [
    *(b"GET http://plain.test/ HTTP/1.1\r\n", b"Host: plain.test\r\n", b"\r\n", b"CONNECT api.test:1 HTTP/1.1\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n", b"0\r\n\r\n", b"\x16\x03\x01", b"\x00" * 9),
]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from(PIECES),
        ),
        max_size=8,
    )
)
async def test_any_bytes_end_in_an_answer_or_the_end(proxy: Proxy, parts: list[bytes]) -> None:
    async with asyncio.timeout(30):
        await proxy.raw(b"".join(parts).replace(b"plain.test", b"nowhere.test"))
    assert proxy.refusals.counters.requests == 0
