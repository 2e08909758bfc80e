"""Messages of a server only: the welcome, events, and the result or error that closes a channel."""

from collections.abc import Callable

import pytest

from hawse.wire import (
    Connection,
    Goaway,
    HawseError,
    Limits,
    LocalProtocolError,
    Role,
)
from hawse.wire.errors import MESSAGE_MAX
from tests.support import wire as kit

Misuse = Callable[[Connection, Connection], object]

# By what is wrong, with the client and the server of `kit.four_calls`.
MISUSES: dict[str, Misuse] = {
    "an event by a client": lambda client, _: client.send_event(1, "n"),
    "a result by a client": lambda client, _: client.send_result(1),
    "an error by a client": lambda client, _: client.send_error(1, HawseError("internal")),
    "a result on a closed channel": lambda _, server: server.send_result(4),
    "a second welcome": lambda _, server: server.send_welcome("s", identity="i", role="r"),
    "a welcome by a client": lambda client, _: client.send_welcome("s", identity="i", role="r"),
}


@pytest.mark.parametrize("misuse", MISUSES.values(), ids=MISUSES)
def test_wrong_use_raises_a_local_error_and_sends_nothing(misuse: Misuse) -> None:
    client, server = kit.four_calls()
    with pytest.raises(LocalProtocolError):
        misuse(client, server)
    kit.check_four_calls(client, server)


def test_welcome_may_only_be_sent_after_hello() -> None:
    server = Connection(Role.SERVER)
    for early in (lambda: server.ping(1), lambda: server.send_welcome("s", identity="i", role="r")):
        with pytest.raises(LocalProtocolError):
            early()
    assert server.data_to_send() == []


def test_messages_that_are_too_large_become_smaller_ones_or_are_refused_here() -> None:
    client, server = kit.pair(Limits(text=2000))
    client.call("m")
    client.call("m")
    kit.deliver(client, server)
    with pytest.raises(HawseError, match="too_large"):
        server.send_event(1, "n", "é" * 1000)
    assert server.window(1) == 1 << 20
    server.send_result(1, "x" * 2000)
    server.send_error(2, HawseError("io_error", "é" * 2000, details=["x" * 2000]))
    first, second = kit.deliver(server, client)
    assert (first.code, first.admitted) == ("too_large", "yes")
    assert (second.code, second.to_exception().details) == ("io_error", None)
    assert not server.channels
    assert not client.channels


def test_a_message_that_quotes_what_was_received_is_cut() -> None:
    client, server = kit.pair()
    client.call("m")
    kit.deliver(client, server)
    server.send_error(1, HawseError("invalid_params", "é" * 500_000))
    (error,) = kit.deliver(server, client)
    assert error.message == "é" * (MESSAGE_MAX - 1) + "…"


def test_an_event_needs_a_window_above_0_and_may_overdraw_it() -> None:
    client, server = kit.pair(window=1)
    client.call("m")
    kit.deliver(client, server)
    server.send_event(1, "n")
    with pytest.raises(LocalProtocolError, match="window"):
        server.send_event(1, "n")
    assert len(kit.deliver(server, client)) == 1


def test_an_error_whose_details_are_not_json_leaves_the_channel_open() -> None:
    client, server = kit.pair()
    client.call("m")
    kit.deliver(client, server)
    with pytest.raises(TypeError):
        server.send_error(1, HawseError("internal", details=object()))
    assert 1 in server.channels
    server.send_error(1, HawseError("internal"))


def test_goaway_has_the_delay_of_the_reconnect() -> None:
    client, server = kit.pair()
    server.goaway("restart", 2.5)
    assert kit.deliver(server, client) == [Goaway(reason="restart", retry_after=2.5)]
