"""Tunnels through a real gateway to tests/support/site.py in a real sandbox: requests, WebSockets, restarts, ends."""

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

import hawse
from hawse.client import Tunnel
from hawse.wire import HawseError
from tests.support.certificates import Authority
from tests.support.http_clients import http_client
from tests.support.previewed import TIMEOUT, Previewed, previewed
from tests.support.stack import Stack, free_port

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Previewed]:
    async with previewed(tmp_path_factory.mktemp("tunnels")) as site:
        yield site


@asynccontextmanager
async def tunnelled(
    site: Previewed, name: str | None = None, *, expires_in: float | None = None
) -> AsyncIterator[Tunnel]:
    tunnel = await site.sandbox.tunnels.create(site.port, name=name, expires_in=expires_in)
    try:
        yield tunnel
    finally:
        await site.sandbox.tunnels.delete(tunnel.id)


def path_of(tunnel: Tunnel) -> str:
    assert tunnel.path_url is not None
    return tunnel.path_url


async def get(site: Previewed, url: str | None, **headers: str) -> httpx.Response:
    """Send a request to a tunnel. A host name below `localhost` does not have to resolve here."""
    assert url is not None
    address = httpx.URL(url)
    async with http_client(site.stack.base, timeout=TIMEOUT) as http:
        return await http.get(address.raw_path.decode(), headers={"Host": address.netloc.decode(), **headers})


async def test_both_addresses_reach_the_program_without_a_token(site: Previewed) -> None:
    async with tunnelled(site, "shop") as tunnel:
        assert tunnel.url == f"http://t-shop.localhost:{site.stack.port}/"
        assert tunnel.path_url == f"{site.stack.base}/t/shop/"
        by_name = await get(site, f"{tunnel.url}seen?a=b")
        assert by_name.json()["target"] == "/seen?a=b"
        assert "content-security-policy" not in by_name.headers
        by_path = await get(site, f"{path_of(tunnel)}seen")
        assert by_path.json()["target"] == "/seen"
        assert dict(by_path.json()["headers"])["x-forwarded-prefix"] == "/t/shop"
        assert by_path.headers["content-security-policy"].startswith("sandbox ")
        bare = await get(site, path_of(tunnel).rstrip("/"))
        assert (bare.status_code, bare.headers["location"]) == (308, "/t/shop/")


async def test_a_tunnel_carries_websockets_and_streams(site: Previewed) -> None:
    async with tunnelled(site) as tunnel:
        url = f"ws://127.0.0.1:{site.stack.port}/t/{tunnel.id}/socket"
        async with asyncio.timeout(TIMEOUT), connect(url, proxy=None, compression=None) as socket:
            await socket.send("hello")
            assert await socket.recv() == "hello"
            (listed,) = await site.sandbox.tunnels.list()
            assert listed.connections == 1
        answer = await get(site, f"{tunnel.url}bytes?n=3000000")
        assert len(answer.content) == 3_000_000


async def test_a_deleted_tunnel_ends_its_connections(site: Previewed) -> None:
    tunnel = await site.sandbox.tunnels.create(site.port)
    url = f"ws://127.0.0.1:{site.stack.port}/t/{tunnel.id}/socket"
    async with asyncio.timeout(TIMEOUT), connect(url, proxy=None, compression=None) as socket:
        await socket.send("hello")
        assert await socket.recv() == "hello"
        await site.sandbox.tunnels.delete(tunnel.id)
        with pytest.raises(ConnectionClosedError) as raised:
            await socket.recv()
        assert raised.value.rcvd is not None
        assert (raised.value.rcvd.code, raised.value.rcvd.reason) == (1011, "not_found")
    answer = await get(site, tunnel.url)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    page = await get(site, tunnel.url, Accept="text/html")
    assert "<h1" in page.text
    assert "No such address" in page.text


async def test_a_tunnel_expires_with_its_connections(site: Previewed) -> None:
    tunnel = await site.sandbox.tunnels.create(site.port, expires_in=5)
    url = f"ws://127.0.0.1:{site.stack.port}/t/{tunnel.id}/socket"
    async with asyncio.timeout(TIMEOUT), connect(url, proxy=None, compression=None) as socket:
        with pytest.raises(ConnectionClosedError):
            await socket.recv()
    assert (await get(site, tunnel.url)).status_code == 404
    assert await site.sandbox.tunnels.list() == []


async def test_visitors_are_in_the_audit_log(site: Previewed) -> None:
    async with tunnelled(site, "audited") as tunnel, hawse.connect(site.stack.base, token=site.stack.token) as hw:
        await get(site, f"{tunnel.url}seen")
        entries = await hw.audit.list()
    (visit,) = [entry for entry in entries if entry.user == "tunnel audited"]
    assert (visit.action, visit.sandbox, visit.on) == ("preview", "local", {"port": str(site.port)})
    created = next(entry for entry in entries if entry.action == "tunnel.create" and entry.on.get("id") == "audited")
    assert (created.outcome, created.sandbox, created.on["port"]) == ("ok", "local", str(site.port))


async def test_a_port_without_a_listener_is_502_and_a_port_of_others_403(site: Previewed) -> None:
    box = site.sandbox
    nothing = await box.tunnels.create(1, name="nothing")
    assert (await get(site, nothing.url)).status_code == 502
    gateway = await box.tunnels.create(site.stack.port, name="gateway")
    assert (await get(site, gateway.url)).status_code == 403
    for tunnel in (nothing, gateway):
        await box.tunnels.delete(tunnel.id)


async def test_a_name_of_the_gateway_is_never_a_tunnel(tmp_path: Path) -> None:
    arguments = ("--preview-host", "example.org", "--allow-host", "t-gateway.example.org")
    async with Stack(tmp_path / "state", *arguments) as stack, hawse.connect(stack.base, token=stack.token) as hw:
        tunnel = await hw.sandbox().tunnels.create(9, name="gateway")
        assert tunnel.url == f"http://t-gateway.example.org:{stack.port}/"
        async with http_client(stack.base, timeout=TIMEOUT) as http:
            answer = await http.get("/healthz", headers={"Host": f"t-gateway.example.org:{stack.port}"})
            assert answer.json()["status"] == "ok"


async def test_a_tunnel_survives_both_restarts_and_ends_with_its_sandbox(tmp_path: Path) -> None:
    async with Stack(tmp_path / "state") as stack, hawse.connect(stack.base, token=stack.token) as hw:
        async with hw.sandboxes.create("demo") as box:
            serving = "python3 -m http.server 8765 --bind 127.0.0.1"
            await box.files.write_text("index.html", "durable")
            first = await box.processes.start(["sh", "-c", serving])
            await first.wait_for_port(8765)
            tunnel = await box.tunnels.create(8765, name="demo")
            async with http_client(path_of(tunnel), timeout=TIMEOUT) as http:
                assert (await http.get("")).text == "durable"
                await stack.kill()
                await stack.start()
                assert (await http.get("")).status_code in (200, 410)
                await box.runtime()
                assert (await http.get("")).text == "durable"
                await box.stop()
                asleep = await http.get("")
                assert (asleep.status_code, asleep.json()["code"]) == (410, "stale_handle")
                await box.wake()
                second = await box.processes.start(["sh", "-c", serving])
                await second.wait_for_port(8765)
                assert (await http.get("")).text == "durable"
                assert [one.id for one in await box.tunnels.list()] == ["demo"]
        with pytest.raises(HawseError, match="demo"):
            await box.tunnels.list()
        async with hw.sandboxes.create("demo") as again:
            assert await again.tunnels.list() == []
            async with http_client(path_of(tunnel), timeout=TIMEOUT) as http:
                assert (await http.get("")).status_code == 404


ECHO = """
import asyncio, ssl, sys

async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()

async def main():
    context = None
    if len(sys.argv) > 2:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(sys.argv[2])
    async with await asyncio.start_server(echo, "127.0.0.1", int(sys.argv[1]), ssl=context) as server:
        await server.serve_forever()

asyncio.run(main())
"""


async def test_tcp_and_tls_pass_and_end_with_the_tunnel(tmp_path: Path) -> None:
    ports, tls_port, inside, secure = free_port(), free_port(), free_port(), free_port()
    authority = Authority(tmp_path)
    certificate = b"".join(file.read_bytes() for file in authority.issue("t-safe"))
    arguments = ("--tunnel-ports", f"{ports}-{ports}", "--tunnel-tls-port", str(tls_port))
    async with Stack(tmp_path / "state", *arguments) as stack, hawse.connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        await box.files.write_text("echo.py", ECHO)
        await box.files.write("pair.pem", certificate)
        plain = await box.processes.start([sys.executable, "echo.py", str(inside)])
        ciphered = await box.processes.start([sys.executable, "echo.py", str(secure), "pair.pem"])
        await plain.wait_for_port(inside)
        await ciphered.wait_for_port(secure)
        tcp = await box.tunnels.create(inside, kind="tcp")
        tls = await box.tunnels.create(secure, kind="tls", name="safe")
        assert (tcp.url, tls.url) == (f"tcp://localhost:{ports}", f"tls://t-safe.localhost:{tls_port}")

        context = ssl.create_default_context(cafile=str(authority.path))
        context.check_hostname = False  # the certificates of the tests are for localhost
        data = bytes(range(256)) * 16_384  # 4 MiB: more than all buffers on the way
        async with asyncio.timeout(TIMEOUT):
            for host, port, security, name in (
                ("localhost", ports, None, None),
                ("127.0.0.1", tls_port, context, "t-safe.localhost"),
            ):
                reader, writer = await asyncio.open_connection(host, port, ssl=security, server_hostname=name)
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(send(writer, data))
                    assert await reader.readexactly(len(data)) == data
                writer.close()

            await stack.kill()  # after a restart, the port is open again for the same tunnel
            await stack.start()
            reader, writer = await dial(ports)
            writer.write(b"again")
            assert await reader.readexactly(5) == b"again"
            await box.tunnels.delete(tcp.id)
            with pytest.raises(ConnectionResetError):
                await reader.read()
            writer.close()
            while True:  # polls, since the port is closed some time after the call
                try:
                    _, other = await asyncio.open_connection("127.0.0.1", ports)
                except ConnectionRefusedError:
                    break
                other.close()
                await asyncio.sleep(0.01)


async def send(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


async def dial(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect once the port is open: the gateway opens tunnel ports after it has started to serve."""
    while True:
        try:
            return await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.01)


async def test_other_users_neither_see_nor_change_a_tunnel(site: Previewed) -> None:
    async with tunnelled(site, "mine"), hawse.connect(site.stack.base, token=site.stack.token) as hw:
        made = await hw.tokens.create("eve", role="operator", own=True, user="eve")
        async with hawse.connect(site.stack.base, token=made.token) as eve:
            box = eve.sandbox("local")
            for call in (box.tunnels.list(), box.tunnels.create(80, name="hers"), box.tunnels.delete("mine")):
                with pytest.raises(HawseError) as raised:
                    await call
                assert raised.value.code == "not_found"
        viewer = await hw.tokens.create("v", role="viewer")
        async with hawse.connect(site.stack.base, token=viewer.token) as looking:
            with pytest.raises(HawseError) as raised:
                await looking.sandbox("local").tunnels.create(site.port)
            assert raised.value.code == "forbidden"
