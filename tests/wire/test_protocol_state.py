"""The state that sending and receiving share: what waits to be written, and the error that ends a connection."""

from hawse.wire import (
    HawseError,
    Kind,
)
from tests.support import wire as kit


def test_a_server_sends_the_error_that_ends_the_connection_once_and_a_client_sends_none() -> None:
    client, server = kit.pair()
    server.send_connection_error(HawseError("backlog"))
    server.send_connection_error(HawseError("internal"))
    client.send_connection_error(HawseError("internal"))
    assert client.data_to_send() == []
    (error,) = kit.deliver(server, client)
    assert (error.ch, error.code, error.retryable) == (None, "backlog", True)


def test_pending_counts_bytes_until_they_are_taken() -> None:
    client, server = kit.pair()
    client.call("é")
    pending = client.pending
    (text,) = client.data_to_send()
    assert isinstance(text, str)
    assert pending == len(text.encode()) == len(text) + 1
    assert client.pending == 0
    server.receive_text(text)
    assert len(list(server.events())) == 1
    server.send_data(1, Kind.OUTPUT, 0, b"abc")
    assert server.pending == 13 + 3


def test_data_to_send_returns_each_message_once_and_in_order() -> None:
    client, _ = kit.pair()
    ch = client.call("m")
    client.send_data(ch, Kind.INPUT, 0, b"a")
    client.end(ch)
    assert [type(message) for message in client.data_to_send()] == [str, bytes, str]
    assert client.data_to_send() == []
