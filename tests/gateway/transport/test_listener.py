import asyncio
import socket
from pathlib import Path

import pytest

from gateway.transport.listener import NOTSENT_LOWAT, TCP_NOTSENT_LOWAT, accepts_connections, listen
from gateway.transport.uvicorn_websocket import WebSocketProtocol
from tests.support.gateway import Gateway


async def test_every_accepted_socket_has_a_short_queue_and_no_delay(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        await peer.ask("answer")
        (protocol,) = gateway.server.server_state.connections
        assert isinstance(protocol, WebSocketProtocol)
        accepted = protocol.transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT) == NOTSENT_LOWAT
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_an_error() -> None:
    with listen("127.0.0.1", 0) as first, pytest.raises(OSError):
        listen("127.0.0.1", first.getsockname()[1])


def test_the_port_of_a_gateway_that_just_ended_can_be_reused() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), first:
            pass
    listen("127.0.0.1", port).close()


def test_ipv6_is_supported() -> None:
    with listen("::1", 0) as listener:
        assert listener.family == socket.AF_INET6


async def test_a_probe_finds_the_listening_process(tmp_path: Path) -> None:
    path = tmp_path / "s"
    assert not accepts_connections(path)
    async with await asyncio.start_unix_server(lambda reader, writer: writer.close(), path):
        assert accepts_connections(path)
    path.touch()
    assert not accepts_connections(path)


def test_a_stale_socket_is_distinguished_from_one_with_a_full_backlog(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(0)
        waiting: list[socket.socket] = []
        while accepts_connections(path) and len(waiting) < 3:
            waiting.append(socket.socket(socket.AF_UNIX))
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(str(path))
        assert accepts_connections(path)
        for one in waiting:
            one.close()
    assert not accepts_connections(path)


async def test_a_symbolic_link_to_a_socket_is_refused(tmp_path: Path) -> None:
    """User code can put one where its runtime's socket was."""
    async with await asyncio.start_unix_server(lambda reader, writer: writer.close(), tmp_path / "s"):
        (tmp_path / "link").symlink_to(tmp_path / "s")
        assert not accepts_connections(tmp_path / "link")


def test_a_path_that_is_too_long_has_no_listener(tmp_path: Path) -> None:
    assert not accepts_connections(tmp_path / ("x" * 200))
