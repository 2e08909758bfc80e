import pytest
from msgspec import Raw

from hawse.wire import Call, Connection, Data, Event, HawseError, Kind, RemoteProtocolError, Result, Role
from hawse.wire.messages import Error, to_raw
from hawse_gateway.connection.output_queue import CHUNKS, OutputQueue, send_message
from tests.support.pairs import carry

LIMIT = 65_536


@pytest.fixture
def line() -> tuple[Connection, Connection, int]:
    """A client and a server with one open channel, and 4 MiB to send."""
    client, server = Connection(Role.CLIENT, window=4 << 20), Connection(Role.SERVER)
    client.send_hello("test")
    carry(client, server)
    server.send_welcome("test", identity="", role="")
    carry(server, client)
    ch = client.call("x")
    assert isinstance(carry(client, server)[0], Call)
    return client, server, ch


def data(offset: int, payload: bytes, kind: Kind = Kind.OUTPUT) -> Data:
    return Data(kind, 1, offset, payload)


def test_adjacent_bytes_become_one_frame(line) -> None:
    client, server, ch = line
    box = OutputQueue()
    for offset in range(1000):
        box.put_data(data(offset, b"x"), LIMIT)
    assert len(box) == 1
    assert box.send(server, ch, LIMIT) == 1000
    (frame,) = carry(server, client)
    assert (frame.offset, len(frame.payload)) == (0, 1000)
    assert not box


def test_a_chunk_has_at_most_the_size_of_a_frame(line) -> None:
    client, server, ch = line
    box = OutputQueue()
    for offset in range(0, 200_000, 50_000):
        box.put_data(data(offset, b"x" * 50_000), LIMIT)
    box.send(server, ch, 1 << 20)
    assert [len(frame.payload) for frame in carry(server, client)] == [50_000] * 4


def test_a_payload_beyond_the_limit_is_cut(line) -> None:
    client, server, ch = line
    box = OutputQueue()
    box.put_data(data(7, bytes(150_000)), LIMIT)
    box.send(server, ch, 1 << 20)
    assert [(f.offset, len(f.payload)) for f in carry(server, client)] == [
        (7, 65_536),
        (65_543, 65_536),
        (131_079, 18_928),
    ]


def test_events_keep_their_place_among_the_bytes(line) -> None:
    client, server, ch = line
    box = OutputQueue()
    box.put_data(data(0, b"ab"), LIMIT)
    box.put(Event(ch=5, name="resized", value=to_raw({"cols": 80}), seq=3))
    box.put_data(data(2, b"cd"), LIMIT)
    box.put(Result(ch=5, value=to_raw("done")))
    box.send(server, ch, LIMIT)
    first, event, second, result = carry(server, client)
    assert (bytes(first.payload), bytes(second.payload)) == (b"ab", b"cd")
    assert (event.name, event.value, event.seq, event.ch) == ("resized", Raw(b'{"cols":80}'), 3, ch)
    assert result.value == Raw(b'"done"')


def test_a_turn_sends_about_the_requested_size(line) -> None:
    _, server, ch = line
    box = OutputQueue()
    for offset in range(0, 300_000, 60_000):
        box.put_data(data(offset, bytes(60_000)), LIMIT)
    assert box.send(server, ch, LIMIT) == 60_000
    assert len(box) == 4


def test_alternating_stdout_and_stderr_keep_their_order_while_the_queue_is_short(line) -> None:
    client, server, ch = line
    box = OutputQueue()
    for offset in range(3):
        box.put_data(data(offset, b"o"), LIMIT)
        box.put_data(data(offset, b"e", Kind.STDERR), LIMIT)
    box.send(server, ch, LIMIT)
    assert b"".join(bytes(f.payload) for f in carry(server, client)) == b"oeoeoe"


def test_alternating_stdout_and_stderr_use_a_bounded_number_of_chunks(line) -> None:
    client, server, ch = line
    box = OutputQueue()
    for offset in range(20_000):
        box.put_data(data(offset, b"o"), LIMIT)
        box.put_data(data(offset, b"e", Kind.STDERR), LIMIT)
    assert len(box) <= CHUNKS + 2
    while box:
        box.send(server, ch, LIMIT)
    streams = {Kind.OUTPUT: b"", Kind.STDERR: b""}
    for frame in carry(server, client):
        assert frame.offset == len(streams[frame.kind])
        streams[frame.kind] += bytes(frame.payload)
    assert streams == {Kind.OUTPUT: b"o" * 20_000, Kind.STDERR: b"e" * 20_000}


def test_bytes_never_overtake_an_event(line) -> None:
    client, server, ch = line
    box = OutputQueue()
    for offset in range(CHUNKS):
        box.put_data(data(offset, b"o"), LIMIT)
        box.put_data(data(offset, b"e", Kind.STDERR), LIMIT)
    box.put(Event(ch=1, name="exit"))
    box.put_data(data(CHUNKS, b"after"), LIMIT)
    while box:
        box.send(server, ch, LIMIT)
    seen = carry(server, client)
    assert isinstance(seen[-2], Event)
    assert bytes(seen[-1].payload) == b"after"


def test_a_stream_with_a_jump_in_its_offsets_is_refused() -> None:
    box = OutputQueue()
    with pytest.raises(RemoteProtocolError, match="a gap"):
        for offset in range(0, 10_000, 2):
            box.put_data(data(offset, b"x"), LIMIT)


@pytest.mark.parametrize("event_between", [True, False])
def test_a_chunk_that_was_sent_does_not_grow(line, event_between: bool) -> None:
    client, server, ch = line
    box = OutputQueue()
    box.put_data(data(0, b"ab"), LIMIT)
    if event_between:
        box.put(Event(ch=1, name="x"))
    box.send(server, ch, LIMIT)
    box.put_data(data(2, b"cd"), LIMIT)
    box.send(server, ch, LIMIT)
    assert [bytes(f.payload) for f in carry(server, client) if isinstance(f, Data)] == [b"ab", b"cd"]


def test_the_final_message_is_the_last_one(line) -> None:
    _, server, ch = line
    box = OutputQueue()
    box.put(Result(ch=1))
    box.put(Event(ch=1, name="late"))
    box.send(server, ch, LIMIT)
    assert len(box) == 1
    box.clear()
    assert not box


def test_an_error_is_forwarded_with_all_fields(line) -> None:
    client, server, ch = line
    error = HawseError("no_space", "full", admitted="yes", details={"errno": 28}, retryable=False)
    assert send_message(Error.from_exception(error, 99), server, ch) == 0
    (seen,) = carry(server, client)
    again = seen.to_exception()
    assert (again.code, again.message, again.admitted, again.details, again.retryable) == (
        "no_space",
        "full",
        "yes",
        {"errno": 28},
        False,
    )


def test_a_small_turn_sends_part_of_a_chunk_and_nothing_is_lost(line) -> None:
    client, server, ch = line
    box = OutputQueue()
    whole = bytes(n % 251 for n in range(60_000))
    box.put_data(data(5, whole), LIMIT)
    assert box.send(server, ch, 16_384) == 16_384
    box.put_data(data(60_005, b"more"), LIMIT)  # it still grows
    while box:
        assert box.send(server, ch, 16_384) <= 16_384
    frames = carry(server, client)
    assert [frame.offset for frame in frames] == [5, 16_389, 32_773, 49_157]
    assert b"".join(bytes(frame.payload) for frame in frames) == whole + b"more"
