"""Previews across restarts of the gateway and the runtime, and with clients that vanish at every step."""

import asyncio
import socket
import sys
from pathlib import Path

import httpx
import psutil

import hawse
from tests.support import peers
from tests.support.http_clients import http_client
from tests.support.previewed import TIMEOUT, Previewed, previewed
from tests.support.runtime import alive

MIB = 1 << 20
STEPS = (
    b"",
    b"GET {path}/seen HTTP/1.1\r\nHost: localhost\r\n",
    b"GET {path}/silent HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET {path}/bytes?n=100000000 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST {path}/size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n" + bytes(300_000),
    b"POST {path}/duplex HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    b"GET {path}/socket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
)


async def dialled(preview: Previewed, sent: bytes) -> socket.socket:
    """Return a client that has sent these bytes, and reads nothing."""
    loop = asyncio.get_running_loop()
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.setblocking(False)
    await loop.sock_connect(client, ("127.0.0.1", preview.stack.port))
    async with asyncio.timeout(TIMEOUT):
        await loop.sock_sendall(client, sent.replace(b"{path}", preview.path.encode()))
    return client


async def test_the_same_address_holds_after_the_gateway_was_killed(tmp_path: Path) -> None:
    async with previewed(tmp_path) as preview:
        assert (await preview.http.get("/seen")).status_code == 200
        await preview.stack.kill()
        await preview.stack.start()
        assert (await preview.http.get("/seen")).status_code == 200
        answer = await preview.http.get(f"{preview.stack.base}/seen", headers={"Host": preview.name})
        assert answer.json()["target"] == "/seen"


async def test_the_gateway_shuts_down_cleanly_with_open_previews(tmp_path: Path) -> None:
    async with previewed(tmp_path) as preview:
        async with preview.socket() as open_socket, preview.http.stream("GET", "/silent"):
            await open_socket.send("here")
            assert await open_socket.recv() == "here"
            assert await preview.stack.terminate() == 0
            await open_socket.wait_closed()
            assert open_socket.close_code == 1012
        assert [line for line in preview.stack.printed if "Traceback" in line] == []
        await preview.stack.start()


async def test_a_preview_has_the_same_address_after_a_restart_of_its_sandbox(tmp_path: Path) -> None:
    async with previewed(tmp_path) as preview:
        (site,) = (await preview.sandbox.call("port.list"))["ports"]
        for process in preview.stack.runtimes():
            process.kill()
        async with asyncio.timeout(TIMEOUT):
            while (answer := await preview.http.get("/seen")).status_code not in (410, 200):
                pass
        assert (answer.status_code, answer.json()["code"]) == (410, "stale_handle"), "a preview starts no sandbox"
        async with hawse.connect(preview.stack.base, token=preview.stack.token) as hw:
            (again,) = await hw.sandbox().ports.exposed()  # by a new runtime, started by this call
            assert again.token == preview.token
            answer = await preview.http.get("/seen")
            assert answer.status_code == 502, "the program was ended with its runtime"
            assert not alive(site["pid"])
            await hw.sandbox().processes.start(
                ["python3", "-m", "http.server", str(preview.port), "--bind", "127.0.0.1"]
            )
            async with asyncio.timeout(TIMEOUT):
                while (await preview.http.get("/")).status_code == 502:  # noqa: ASYNC110  # until it listens
                    await asyncio.sleep(0.05)
            await hw.sandbox().ports.unexpose(preview.port)
            assert (await preview.http.get("/")).status_code == 404


async def test_clients_that_abort_at_any_step_leave_no_resources_behind(tmp_path: Path) -> None:
    async with previewed(tmp_path) as preview:
        async with preview.socket() as warm:
            await warm.send("x")
            await warm.recv()
        await preview.http.get("/left")
        before = await preview.held()
        for _ in range(3):
            clients = [await dialled(preview, step) for step in STEPS for _ in range(3)]
            await preview.http.get("/left")
            for client in clients:
                client.close()
        await preview.until_held(before)
        assert (await preview.http.get("/seen")).status_code == 200


async def test_clients_that_abort_an_upgrade_leave_no_resources_behind(tmp_path: Path) -> None:
    async with (
        previewed(tmp_path) as preview,
        preview.sandbox.processes.start([sys.executable, peers.__file__, "deaf"]) as process,
    ):
        port = await process.wait_for_log(pattern=r"^\d+\n")
        deaf = await preview.sandbox.ports.expose(int(port.text))
        await preview.http.get("/left")
        before = await preview.held()
        upgrade = STEPS[-1].replace(b"{path}", f"/p/local/{deaf.token}".encode())
        clients = [await dialled(preview, upgrade) for _ in range(5)]
        await process.wait_for_log(pattern=r"(accepted\n){5}", timeout=TIMEOUT)
        for client in clients:
            client.close()
        await preview.until_held(before)


async def test_readers_that_stop_cost_bounded_memory_and_do_not_affect_others(tmp_path: Path) -> None:
    async with previewed(tmp_path) as preview:
        await preview.http.get("/left")
        gateway = psutil.Process(preview.stack.pid)
        before, runtime = gateway.memory_info().rss, (await preview.sandbox.call("runtime.info"))["memory"]
        flood = b"GET {path}/bytes?n=100000000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        clients = [await dialled(preview, flood) for _ in range(8)]
        for _ in range(50):
            assert (await preview.http.get("/seen")).status_code == 200
        assert gateway.memory_info().rss - before < 8 * 2 * MIB
        assert (await preview.sandbox.call("runtime.info"))["memory"] - runtime < 8 * 2 * MIB
        for client in clients:
            client.close()


async def test_many_requests_at_once_are_all_answered(tmp_path: Path) -> None:
    async with previewed(tmp_path) as preview:
        limits = httpx.Limits(max_connections=20)
        base = preview.stack.base + preview.path
        async with http_client(base, limits=limits, timeout=60) as http:
            answers = await asyncio.gather(*(http.post("/size", content=b"%d" % n) for n in range(150)))
        assert [answer.json()[0] for answer in answers] == [len(b"%d" % n) for n in range(150)]
