"""Receiving: what violates the protocol ends the connection with a typed error, a malformed call only the call."""

import pytest
from hypothesis import given, settings, strategies as st

from hawse.wire import (
    ERRORS,
    Call,
    Connection,
    Error,
    Kind,
    Limits,
    RemoteProtocolError,
    Role,
)
from hawse.wire.frames import encode_frame, encode_shared
from hawse.wire.messages import from_client, from_server
from tests.support import wire as kit

CLOSE_CODES = kit.close_codes()
SEEDS = [
    kit.wire_form(entry)
    for part in ("valid", "tolerated", "invalid", "malformed_calls")
    for entry in kit.vectors("messages.json", part)
    if "length" not in entry
]
FRAMES = [bytes.fromhex(entry["hex"]) for part in ("valid", "invalid") for entry in kit.vectors("frames.json", part)]


@st.composite
def mutated(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """A message of the vectors with some of its bytes replaced, cut out or doubled."""
    body = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(body)))
        stop = draw(st.integers(start, min(start + 12, len(body))))
        body[start:stop] = draw(
            st.sampled_from([b"", b"1", b"7", b"null", b"-0", b"1e999", b'"', b"{", b"\xff", b"9" * 5000, b"\\ud800"])
            | st.binary(max_size=4)
            | st.just(bytes(body[start:stop]) * 2)
        )
    return bytes(body)


HOSTILE = st.lists(
    st.tuples(st.just(True), mutated(SEEDS) | st.binary(max_size=60))
    | st.tuples(st.just(False), mutated(FRAMES) | st.binary(max_size=60)),
    max_size=12,
)


def in_state(role: Role, state: str) -> Connection:
    """A connection in one of `STATES`, with nothing to send."""
    client, server = Connection(Role.CLIENT, window=100), Connection(Role.SERVER, Limits(channels=8))
    chosen = client if role is Role.CLIENT else server
    if state == "new":
        return chosen
    client.send_hello("test", shares=state == "shared frames")
    kit.deliver(client, server)
    if state == "greeted":
        return chosen
    server.send_welcome("test", identity="i", role="r")
    kit.deliver(server, client)
    for ch in range(1, {"ready": 0, "channels full": 8}.get(state, 6) + 1):
        client.call("m")
        (lambda _: None, client.end, client.cancel)[ch % 3](ch)
    kit.deliver(client, server)
    if state == "channels closed":
        for ch in (2, 3, 6):
            server.send_result(ch)
        kit.deliver(server, client)
    if state == "window used up":
        for ch in server.channels:
            server.send_event(ch, "n", "x" * 100)
        kit.deliver(server, client)
    if state == "broken":
        with pytest.raises(RemoteProtocolError):
            chosen.receive_data(b"")
        chosen.data_to_send()
    return chosen


STATES = [
    "new",
    "greeted",
    "ready",
    "channels open",
    "channels closed",
    "channels full",
    "window used up",
    "shared frames",
    "broken",
]


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("state", STATES)
@settings(max_examples=100, deadline=None, derandomize=True)
@given(messages=HOSTILE)
def test_hostile_input_raises_only_typed_errors_in_every_state(
    role: Role, state: str, messages: list[tuple[bool, bytes]]
) -> None:
    connection = in_state(role, state)
    raised: list[RemoteProtocolError] = []
    for is_control, message in messages:
        try:
            if is_control:
                connection.receive_text(message)
            else:
                connection.receive_data(memoryview(message))
        except RemoteProtocolError as error:
            raised.append(error)
        for event in connection.events():
            repr(event)
    for seen in raised:
        assert seen is raised[0]
        assert seen.close_code in CLOSE_CODES
        assert seen.code in ERRORS
    reader = from_client if role is Role.CLIENT else from_server
    out = [reader.decode(message) for message in connection.data_to_send() if isinstance(message, str)]
    codes = [message.code for message in out if isinstance(message, Error)]
    assert set(codes) <= set(ERRORS)
    last = [message.code for message in out if isinstance(message, Error) and message.ch is None]
    assert last == ([seen.code for seen in raised[:1]] if role is Role.SERVER and state != "broken" else [])
    assert connection.pending == 0


@pytest.mark.parametrize("entry", kit.vectors("messages.json", "malformed_calls"), ids=kit.called)
def test_a_malformed_call_ends_only_its_channel(entry: kit.Entry) -> None:
    _, server = kit.pair()
    server.receive_text(entry["text"])
    assert list(server.events()) == []
    assert not server.channels
    (text,) = server.data_to_send()
    error = from_server.decode(text)
    assert isinstance(error, Error)
    assert (error.ch, error.code, error.admitted, error.retryable) == (entry["ch"], entry["code"], "no", False)
    assert 0 < len(error.message) <= 256
    server.receive_text(f'{{"type":"cancel","ch":{entry["ch"]}}}')
    server.receive_data(encode_frame(Kind.INPUT, entry["ch"], 0, b"late input is ignored"))
    assert list(server.events()) == []
    if entry["ch"] == 1:
        server.receive_text('{"type":"call","ch":2,"method":"m"}')
        assert [event.ch for event in server.events() if isinstance(event, Call)] == [2]


@pytest.mark.parametrize("entry", kit.vectors("messages.json", "malformed_calls"), ids=kit.called)
def test_a_malformed_call_ends_a_connection_on_which_it_cannot_be_answered(entry: kit.Entry) -> None:
    used = kit.pair()[1]
    used.receive_text(f'{{"type":"call","ch":{entry["ch"]},"method":"m"}}')
    used.data_to_send()
    for connection in (Connection(Role.SERVER), used, kit.pair()[0]):
        with pytest.raises(RemoteProtocolError) as caught:
            connection.receive_text(entry["text"])
        assert (caught.value.code, caught.value.close_code) == ("invalid_message", 1007)


def test_a_shared_frame_beyond_one_window_breaks_the_protocol() -> None:
    client, server, chs = kit.sharing(shares=True)
    for ch in chs:
        server.channels[ch].send_window = 1000
    server.send_shared(chs, Kind.OUTPUT, 0, b"x" * 101)
    with pytest.raises(RemoteProtocolError) as caught:
        kit.deliver(server, client)
    assert caught.value.code == "credit_exceeded"


def test_a_client_that_does_not_accept_shared_frames_refuses_them() -> None:
    client, _, chs = kit.sharing(shares=False)
    with pytest.raises(RemoteProtocolError):
        client.receive_data(encode_shared(Kind.OUTPUT, chs, 0, b"x"))
