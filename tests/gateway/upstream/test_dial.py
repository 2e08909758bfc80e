import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse.wire.limits import LINK_CHANNELS
from hawse_gateway.providers.base import Endpoint, TcpAddress
from hawse_gateway.providers.kubernetes.certificate import make_certificate
from hawse_gateway.upstream.dial import dial, watch
from tests.support.dialed import Owner, ask_over
from tests.support.gateway import FakeRuntime
from tests.support.stack import free_port


async def test_a_link_is_ready_after_welcome(runtime: FakeRuntime) -> None:
    owner = Owner()
    link = await dial(Endpoint(runtime.path), owner)
    assert link.connection.limits.channels == LINK_CHANNELS
    ch = link.connection.call("answer", {"a": 1})
    link.flush()
    await owner.until(lambda: owner.received)
    assert owner.received[0].ch == ch  # type: ignore[union-attr]
    link.abort()
    await link.lost.wait()
    assert owner.lost == [None]


async def test_dialling_a_missing_socket_raises_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await dial(Endpoint(tmp_path / "missing"), Owner())


async def test_a_peer_that_closes_before_welcome_is_an_os_error(tmp_path: Path) -> None:
    path = tmp_path / "s"
    server = await asyncio.start_unix_server(lambda reader, writer: writer.close(), path)
    async with server:
        with pytest.raises(OSError):
            await dial(Endpoint(path), Owner())


async def test_dialling_a_peer_that_never_sends_welcome_can_be_cancelled(tmp_path: Path) -> None:
    path, owner, connected, disconnected = tmp_path / "s", Owner(), asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        await reader.read()
        disconnected.set()
        writer.close()

    async with await asyncio.start_unix_server(silent, path):
        dialling = asyncio.create_task(dial(Endpoint(path), owner))
        await connected.wait()
        dialling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await dialling
        await disconnected.wait()
    await owner.until(lambda: owner.lost)


async def test_a_watched_link_is_pinged_and_stays_open_while_the_runtime_answers(runtime: FakeRuntime) -> None:
    owner = Owner()
    link = await dial(Endpoint(runtime.path), owner)
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(watch(link, interval=0.01, silence=1.0))
        await owner.until(lambda: len(owner.received) >= 3)
        assert all(type(event).__name__ == "Pong" for event in owner.received)
        link.abort()
    assert watching.done()


async def test_a_link_that_receives_nothing_is_closed(runtime: FakeRuntime) -> None:
    owner = Owner()
    link = await dial(Endpoint(runtime.path), owner)
    runtime.links[0].transport.pause_reading()  # as a stopped process would
    await watch(link, interval=0.01, silence=0.03)
    assert isinstance(owner.lost[0], TimeoutError)


async def test_the_owner_is_notified_when_the_link_has_drained(runtime: FakeRuntime) -> None:
    owner = Owner()
    link = await dial(Endpoint(runtime.path), owner)
    transport = runtime.links[0].transport
    transport.pause_reading()
    for _ in range(8):
        link.connection.call("answer", {"x": "y" * 500_000})
        link.flush()
    assert link.connection.pending
    transport.resume_reading()
    await owner.until(lambda: owner.drained)
    await owner.until(lambda: len(owner.received) == 8)
    link.abort()
    await link.lost.wait()


# ---- over TCP, with the real runtime


@asynccontextmanager
async def running_tcp_runtime(workspace: Path, environment: Mapping[str, str]) -> AsyncIterator[TcpAddress]:
    """`python -m hawse_runtime --listen`, whose token is `the right token`."""
    address = TcpAddress("127.0.0.1", free_port())
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "hawse_runtime", "--listen", str(address), "--workspace", str(workspace)),
        env={**os.environ, "HAWSE_RUNTIME_TOKEN": "the right token", **environment},
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    line = await process.stderr.readline()  # it is printed when the runtime listens
    assert b"= runtime" in line, line
    yield address
    process.terminate()
    await process.communicate()


@pytest.fixture
async def tcp_runtime(tmp_path: Path) -> AsyncIterator[TcpAddress]:
    async with running_tcp_runtime(tmp_path, {}) as address:
        yield address


async def test_a_runtime_is_reached_over_tcp_with_its_token(tcp_runtime: TcpAddress) -> None:
    await ask_over(Endpoint(tcp_runtime, "the right token"))


async def test_a_runtime_with_a_certificate_is_reached_over_tls_and_no_other_server_gets_the_token(
    tmp_path: Path,
) -> None:
    made = make_certificate("box")
    async with running_tcp_runtime(tmp_path, {"HAWSE_RUNTIME_CERTIFICATE": made.with_key}) as address:
        await ask_over(Endpoint(address, "the right token", certificate=made.certificate))
        other = make_certificate("box").certificate
        with pytest.raises(HawseError, match="another program answers at the runtime's address") as caught:
            await dial(Endpoint(address, "the right token", certificate=other), Owner())
        assert caught.value.code == "unavailable"


async def test_a_server_without_tls_receives_nothing_for_a_pinned_endpoint() -> None:
    received = bytearray()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.extend(await reader.read(4096))
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        address = TcpAddress(*server.sockets[0].getsockname())
        with pytest.raises(OSError, match=r"SSL|TLS"):
            await dial(Endpoint(address, "the right token", certificate=make_certificate("box").certificate), Owner())
    assert received
    assert b"token" not in received


@pytest.mark.parametrize("token", ["a wrong token", None])
async def test_a_runtime_that_refuses_the_token_is_unavailable(tcp_runtime: TcpAddress, token: str | None) -> None:
    with pytest.raises(HawseError, match="refused the gateway's connection: unauthenticated") as caught:
        await dial(Endpoint(tcp_runtime, token), Owner())
    assert (caught.value.code, caught.value.admitted) == ("unavailable", "no")


async def test_a_tcp_port_without_a_listener_is_a_connection_error() -> None:
    with pytest.raises(ConnectionRefusedError):
        await dial(Endpoint(TcpAddress("127.0.0.1", free_port())), Owner())
