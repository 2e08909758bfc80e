import pytest

from hawse.wire import Cancel, Connection, Data, End, Kind, Role
from hawse_gateway.upstream.input_queue import OVERHEAD, InputQueue
from tests.support.pairs import carry


@pytest.fixture
def line() -> tuple[Connection, Connection, int]:
    client, server = Connection(Role.CLIENT, window=1000), Connection(Role.SERVER)
    client.send_hello("test")
    carry(client, server)
    server.send_welcome("test", identity="", role="")
    carry(server, client)
    ch = client.call("x")
    carry(client, server)
    return client, server, ch


def put(box: InputQueue, offset: int, payload: bytes) -> None:
    box.put(Data(Kind.INPUT, 77, offset, payload))


def test_input_end_and_cancel_keep_their_order(line) -> None:
    client, server, ch = line
    box = InputQueue(lambda change: None)
    put(box, 0, b"ab")
    put(box, 2, b"c")
    box.put(End(ch=77))
    box.put(Cancel(ch=77))
    assert not box.pull(client, ch, 1 << 16)
    first, second, end, cancel = carry(client, server)
    assert [(f.ch, f.offset, bytes(f.payload)) for f in (first, second)] == [(ch, 0, b"ab"), (ch, 2, b"c")]
    assert isinstance(end, End)
    assert isinstance(cancel, Cancel)


def test_the_size_of_the_queue_includes_the_overhead_of_each_item(line) -> None:
    client, _, ch = line
    total = 0

    def count(change: int) -> None:
        nonlocal total
        total += change

    box = InputQueue(count)
    put(box, 0, b"x" * 100)
    box.put(End(ch=77))
    assert total == 100 + 2 * OVERHEAD
    box.pull(client, ch, 1 << 16)
    assert total == 0
    put(box, 100, b"x")
    box.clear()
    assert total == 0
    assert not box


def test_a_turn_sends_about_the_requested_size(line) -> None:
    client, server, ch = line
    box = InputQueue(lambda change: None)
    for offset in range(0, 200_000, 50_000):
        put(box, offset, bytes(50_000))
    assert box.pull(client, ch, 65_536)
    assert len(carry(client, server)) == 2


def test_a_frame_that_does_not_fit_the_window_waits_whole(line) -> None:
    client, server, ch = line
    box = InputQueue(lambda change: None)
    for offset in range(0, 300_000, 50_000):
        put(box, offset, bytes(50_000))
    assert not box.pull(client, ch, 1 << 20)  # 256 KiB of window: five frames of 50,000
    assert len(carry(client, server)) == 5
    assert box
    server.grant(ch, 50_000)
    carry(server, client)
    box.pull(client, ch, 1 << 20)
    assert [len(f.payload) for f in carry(client, server)] == [50_000]


def test_a_queue_of_plain_bytes_fills_the_window_with_a_part_of_a_frame(line) -> None:
    client, server, ch = line
    total = 0

    def count(change: int) -> None:
        nonlocal total
        total += change

    box = InputQueue(count, whole=False)
    window = client.window(ch)
    for at in range(0, window, 1 << 15):
        used = bytes(min(1 << 15, window - 4 - at))
        client.send_data(ch, Kind.INPUT, at, used)
    carry(client, server)
    put(box, window - 4, b"abcdef")
    assert not box.pull(client, ch, 1 << 16)
    (first,) = carry(client, server)
    assert (first.offset, bytes(first.payload)) == (window - 4, b"abcd")
    assert total == 2 + OVERHEAD
    server.grant(ch, 2)
    carry(server, client)
    box.pull(client, ch, 1 << 16)
    (second,) = carry(client, server)
    assert (second.offset, bytes(second.payload)) == (window, b"ef")
    assert total == 0
