"""Messages of a client only: the handshake, calls, and the end of their channels."""

from collections.abc import Callable

import pytest

from hawse.wire import (
    Connection,
    HawseError,
    Limits,
    LocalProtocolError,
    Role,
)
from tests.support import wire as kit

Misuse = Callable[[Connection, Connection], object]

# By what is wrong, with the client and the server of `kit.four_calls`.
MISUSES: dict[str, Misuse] = {
    "a call by a server": lambda _, server: server.call("m"),
    "a call with an empty method": lambda client, _: client.call(""),
    "a call with too long a key": lambda client, _: client.call("m", key="k" * 129),
    "a call whose timeout is 0": lambda client, _: client.call("m", timeout=0),
    "a call with params that are no JSON": lambda client, _: client.call("m", kit.raw(b"{]")),
    "end twice": lambda client, _: client.end(2),
    "end after cancel": lambda client, _: client.end(3),
    "end by a server": lambda _, server: server.end(1),
    "cancel by a server": lambda _, server: server.cancel(1),
    "a second hello": lambda client, _: client.send_hello("again"),
    "a hello by a server": lambda _, server: server.send_hello("me"),
}


@pytest.mark.parametrize("misuse", MISUSES.values(), ids=MISUSES)
def test_wrong_use_raises_a_local_error_and_sends_nothing(misuse: Misuse) -> None:
    client, server = kit.four_calls()
    with pytest.raises(LocalProtocolError):
        misuse(client, server)
    kit.check_four_calls(client, server)


def test_only_hello_may_be_sent_before_the_handshake() -> None:
    client = Connection(Role.CLIENT)
    for early in (lambda: client.call("m"), lambda: client.ping(1)):
        with pytest.raises(LocalProtocolError):
            early()
    assert client.data_to_send() == []


def test_a_second_cancel_and_a_cancel_of_a_closed_channel_send_nothing() -> None:
    client, _ = kit.pair()
    client.call("m")
    client.cancel(1)
    client.cancel(1)
    assert len(client.data_to_send()) == 2
    client.cancel(99)
    assert client.data_to_send() == []


def test_a_call_may_open_its_channel_with_a_larger_window() -> None:
    client, server = kit.pair(window=100)
    client.call("m", window=5000)
    client.call("m", window=50)
    kit.deliver(client, server)
    assert [server.window(ch) for ch in (1, 2)] == [5000, 100]


def test_a_call_that_is_too_large_is_refused_here_and_uses_no_channel() -> None:
    client, _ = kit.pair(Limits(text=2000))
    with pytest.raises(HawseError, match="too_large"):
        client.call("m", "x" * 2000)
    assert client.data_to_send() == []
    assert client.call("m") == 1


def test_a_call_beyond_the_limit_of_channels_is_refused_here() -> None:
    client, _ = kit.pair(Limits(channels=1))
    client.call("m")
    with pytest.raises(HawseError, match="limit_exceeded"):
        client.call("m")


def test_a_client_that_has_used_all_channel_numbers_must_reconnect() -> None:
    client, _ = kit.pair()
    client.last_channel = (1 << 32) - 2
    assert client.call("m") == (1 << 32) - 1
    with pytest.raises(LocalProtocolError, match="reconnect"):
        client.call("m")
