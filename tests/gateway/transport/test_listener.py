import socket

import pytest

from hawse_gateway.transport.listener import NOTSENT_LOWAT, TCP_NOTSENT_LOWAT, listen
from hawse_gateway.transport.uvicorn_websocket import WebSocketProtocol
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
