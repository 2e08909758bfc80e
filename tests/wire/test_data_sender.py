"""Messages of both sides: frames within their windows, credit and pings."""

from collections.abc import Callable

import pytest

from hawse.wire import (
    Connection,
    Kind,
    Limits,
    LocalProtocolError,
    Pong,
    Role,
)
from hawse.wire.frames import OFFSET_MAX
from hawse.wire.limits import EVENT_OVERHEAD
from tests.support import wire as kit

Misuse = Callable[[Connection, Connection], object]

# By what is wrong, with the client and the server of `kit.four_calls`.
MISUSES: dict[str, Misuse] = {
    "input on an ended channel": lambda client, _: client.send_data(2, Kind.INPUT, 0, b""),
    "input on a cancelled channel": lambda client, _: client.send_data(3, Kind.INPUT, 0, b""),
    "input on a closed channel": lambda client, _: client.send_data(4, Kind.INPUT, 0, b""),
    "input on an unknown channel": lambda client, _: client.send_data(9, Kind.INPUT, 0, b""),
    "input by a server": lambda _, server: server.send_data(1, Kind.INPUT, 0, b""),
    "output by a client": lambda client, _: client.send_data(1, Kind.OUTPUT, 0, b""),
    "input beyond the window": lambda client, _: client.send_data(1, Kind.INPUT, 0, bytes(101)),
    "output beyond the window": lambda _, server: server.send_data(1, Kind.OUTPUT, 0, bytes(201)),
    "a payload beyond the limit": lambda _, server: server.send_data(1, Kind.OUTPUT, 0, bytes(151)),
    "an offset beyond 2^53": lambda _, server: server.send_data(1, Kind.OUTPUT, OFFSET_MAX, b"x"),
    "a negative offset": lambda _, server: server.send_data(1, Kind.OUTPUT, -1, b"x"),
}


@pytest.mark.parametrize("misuse", MISUSES.values(), ids=MISUSES)
def test_wrong_use_raises_a_local_error_and_sends_nothing(misuse: Misuse) -> None:
    client, server = kit.four_calls()
    with pytest.raises(LocalProtocolError):
        misuse(client, server)
    kit.check_four_calls(client, server)


def test_a_ping_may_be_sent_between_hello_and_welcome() -> None:
    client, server = Connection(Role.CLIENT), Connection(Role.SERVER)
    client.send_hello("c")
    client.ping(5)
    kit.deliver(client, server)
    server.ping(6)
    assert kit.deliver(server, client) == [Pong(t=5)]
    assert kit.deliver(client, server) == [Pong(t=6)]


def test_a_channel_that_is_not_open_has_no_window_and_gets_no_credit() -> None:
    _, server = kit.pair()
    assert server.grant(99, 5) == 0
    assert server.window(99) == 0
    assert server.flow(99) == (0, 0)
    assert server.data_to_send() == []


def test_a_grant_is_cut_to_what_the_window_lacks_and_is_sent_in_steps() -> None:
    client, server = kit.pair(window=10)
    client.call("m")
    kit.deliver(client, server)
    server.send_event(1, "n", "x" * 100_000)
    kit.deliver(server, client)
    lacking = client.limits.window_max - 10 + 100_002 + EVENT_OVERHEAD
    assert client.grant(1, 1 << 40) == lacking
    credits_ = kit.deliver(client, server)
    assert sum(credit.bytes for credit in credits_) == lacking
    assert server.window(1) == client.limits.window_max
    assert client.grant(1, 1) == 0
    assert client.data_to_send() == []


def test_bytes_in_flight_are_counted_also_when_events_and_credit_cross() -> None:
    """A difference of windows cannot show them: an event lowers what credit raises."""
    client, server = kit.pair(window=1000)
    client.call("m")
    kit.deliver(client, server)
    server.send_data(1, Kind.OUTPUT, 0, b"x" * 300)
    kit.deliver(server, client)
    client.grant(1, 300)
    server.send_event(1, "n", "y" * 34)
    kit.deliver(client, server)
    assert server.flow(1) == (300 + 36 + EVENT_OVERHEAD, 300)
    kit.deliver(server, client)
    client.grant(1, 36 + EVENT_OVERHEAD + 500)
    kit.deliver(client, server)
    assert server.flow(1) == (400, 400)  # a window that grows gives nothing back
    assert server.flow(2) == (0, 0)


def test_a_window_that_began_above_the_maximum_is_not_lowered_by_a_grant() -> None:
    client, server = kit.pair(Limits(window_max=50), window=100)
    client.call("m")
    kit.deliver(client, server)
    server.receive_text('{"type":"credit","ch":1,"bytes":10}')
    assert server.window(1) == 100
    assert client.grant(1, 10) == 0


def test_a_shared_frame_is_an_event_for_each_channel_and_costs_each_its_window() -> None:
    client, server, chs = kit.sharing(shares=True)
    server.send_shared(chs, Kind.OUTPUT, 7, b"x" * 60)
    assert [server.window(ch) for ch in chs] == [40, 40, 40]
    received = kit.deliver(server, client)
    assert [(data.ch, data.offset, bytes(data.payload)) for data in received] == [(ch, 7, b"x" * 60) for ch in chs]
    with pytest.raises(LocalProtocolError):
        server.send_shared(chs, Kind.OUTPUT, 67, b"x" * 41)


def test_a_server_sends_shared_frames_only_to_a_client_that_accepts_them() -> None:
    _, server, chs = kit.sharing(shares=False)
    with pytest.raises(LocalProtocolError):
        server.send_shared(chs, Kind.OUTPUT, 0, b"x")


def test_a_client_sends_no_shared_frames() -> None:
    client, _, chs = kit.sharing(shares=True)
    with pytest.raises(LocalProtocolError):
        client.send_shared(chs, Kind.INPUT, 0, b"x")
