"""The order of sending: control messages first, then round robin, and no channel starves."""

import gc
import weakref
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from hawse.wire import Connection, FairWriter, HawseError, Kind, Limits, Ping
from hawse.wire.frames import HEADER_SIZE, decode_frame
from tests.support import wire as kit

PAYLOAD = 100
LIMITS = Limits(payload=PAYLOAD)


class Stock:
    """A source that has `left` bytes; `None` is an endless flood."""

    def __init__(self, left: int | None) -> None:
        self.left = left
        self.offset = 0
        self.pulls = 0

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        self.pulls += 1
        size = min(size, connection.window(ch), size if self.left is None else self.left)
        if size:
            connection.send_data(ch, Kind.OUTPUT, self.offset, bytes(size))
            self.offset += size
        if self.left is not None:
            self.left -= size
        return self.left != 0 and connection.window(ch) > 0


class Script:
    """A source that does one step of its script per pull."""

    def __init__(self, *acts: Callable[[Connection, int], bool]) -> None:
        self.acts = list(acts)

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        return self.acts.pop(0)(connection, ch)


def serving(channels: int, *, window: int = 1 << 20) -> tuple[Connection, Connection, FairWriter]:
    """A client, a server with `channels` open channels, and the server's writer."""
    client, server = kit.pair(LIMITS, window=window)
    for _ in range(channels):
        client.call("m")
    kit.deliver(client, server)
    return client, server, FairWriter(server)


def frames(out: list[str | bytes]) -> list[tuple[int, int]]:
    """Channel and size of each frame, in order."""
    data = [decode_frame(message, payload_limit=PAYLOAD) for message in out if isinstance(message, bytes)]
    return [(frame.ch, len(frame.payload)) for frame in data]


def test_control_messages_are_written_first() -> None:
    _, server, writer = serving(2)
    writer.attach(1, Stock(None))
    server.send_event(2, "n")
    server.ping(1)
    out = writer.take(PAYLOAD)
    assert [isinstance(message, str) for message in out] == [True, True, False]


def test_control_messages_do_not_wait_for_room() -> None:
    _, server, writer = serving(1)
    writer.attach(1, Stock(None))
    server.ping(1.5)
    assert writer.take(0) == [kit.text(Ping(t=1.5))]
    assert not writer.idle


def test_channels_take_turns_of_one_slice() -> None:
    _, _, writer = serving(3)
    for ch in (1, 2, 3):
        writer.attach(ch, Stock(None))
    assert frames(writer.take(7 * PAYLOAD)) == [(ch, PAYLOAD) for ch in (1, 2, 3, 1, 2, 3, 1)]
    assert frames(writer.take(2 * PAYLOAD)) == [(2, PAYLOAD), (3, PAYLOAD)]  # it continues where it was


def test_a_keystrokes_echo_waits_for_one_slice_of_each_flood_at_most() -> None:
    _, _, writer = serving(5)
    for ch in (1, 2, 3, 4):
        writer.attach(ch, Stock(None))
    writer.attach(5, echo := Stock(0))
    writer.take(9 * PAYLOAD)
    echo.left = 1
    writer.wake(5)
    sent = frames(writer.take(5 * PAYLOAD))
    assert (5, 1) in sent
    assert sent.index((5, 1)) <= 4


@given(st.lists(st.none() | st.integers(0, 1000), min_size=1, max_size=8), st.integers(20, 5 * PAYLOAD))
def test_no_channel_starves(stocks: list[int | None], batch: int) -> None:
    _, _, writer = serving(len(stocks), window=4 << 20)
    sources = {ch: Stock(left) for ch, left in enumerate(stocks, 1)}
    for ch, source in sources.items():
        writer.attach(ch, source)
    sent: list[tuple[int, int]] = []
    while (flooded := any(left is None for left in stocks)) and len(sent) < 60 * len(stocks):
        sent += frames(writer.take(batch))
    while not flooded and (out := writer.take(batch)):
        sent += frames(out)
    for ch, left in enumerate(stocks, 1):
        if left is not None:
            assert sum(size for at, size in sent if at == ch) == left
    # Between two turns of one channel, each other one has had one at most.
    for ch in sources:
        turns = [i for i, (at, _) in enumerate(sent) if at == ch]
        for a, b in pairwise(turns):
            between = [at for at, _ in sent[a + 1 : b]]
            assert len(between) == len(set(between))


def test_a_batch_is_exceeded_by_one_slice_at_most() -> None:
    _, _, writer = serving(1)
    writer.attach(1, Stock(None))
    for batch in (1, PAYLOAD, 250):
        size = sum(len(message) for message in writer.take(batch))
        assert batch <= size < batch + PAYLOAD + HEADER_SIZE


def test_a_source_with_nothing_to_send_is_pulled_again_only_after_a_wake() -> None:
    _, _, writer = serving(1)
    writer.attach(1, source := Stock(150))
    assert frames(writer.take(1000)) == [(1, 100), (1, 50)]
    pulls = source.pulls
    assert writer.idle
    assert writer.take(1000) == []
    assert source.pulls == pulls
    source.left = 7
    writer.wake(1)
    writer.wake(1)  # twice is once
    assert not writer.idle
    assert frames(writer.take(1000)) == [(1, 7)]
    assert source.pulls == pulls + 1


def test_a_source_without_credit_waits_for_it_and_does_not_delay_others() -> None:
    client, server, writer = serving(2, window=30)
    writer.attach(1, Stock(50))
    writer.attach(2, Stock(10))
    assert frames(writer.take(1000)) == [(1, 30), (2, 10)]
    assert writer.idle
    client.grant(1, 30)
    kit.deliver(client, server)
    writer.wake(1)
    assert frames(writer.take(1000)) == [(1, 20)]


def test_a_wake_during_the_sources_own_turn_is_not_lost() -> None:
    _, server, writer = serving(1)

    def wakes(connection: Connection, ch: int) -> bool:
        writer.wake(ch)
        return False

    def sends(connection: Connection, ch: int) -> bool:
        connection.send_data(ch, Kind.OUTPUT, 0, b"x")
        return False

    writer.attach(1, Script(wakes, sends))
    assert frames(writer.take(1000)) == [(1, 1)]
    assert writer.idle
    assert server.pending == 0


def test_a_source_that_returns_true_and_sends_nothing_does_not_hang_the_writer() -> None:
    _, _, writer = serving(2)
    writer.attach(1, Script(lambda *_: True, lambda *_: False))
    writer.attach(2, Stock(5))
    assert frames(writer.take(1000)) == [(2, 5)]
    assert writer.idle  # although the first returned that it has more
    writer.wake(1)
    assert writer.take(1000) == []


def test_a_source_may_close_its_channel_in_its_turn() -> None:
    _, server, writer = serving(2)

    def last(connection: Connection, ch: int) -> bool:
        connection.send_data(ch, Kind.OUTPUT, 0, b"bye")
        connection.send_result(ch, None)
        return True

    writer.attach(1, Script(last))
    writer.attach(2, Stock(5))
    out = writer.take(1000)
    assert [type(message) for message in out] == [bytes, str, bytes]
    assert list(server.channels) == [2]
    assert writer.idle


def test_a_source_may_detach_itself_in_its_turn() -> None:
    _, _, writer = serving(1)

    def leaves(connection: Connection, ch: int) -> bool:
        connection.send_data(ch, Kind.OUTPUT, 0, b"x")
        writer.detach(ch)
        return True

    writer.attach(1, Script(leaves))
    assert frames(writer.take(1000)) == [(1, 1)]
    writer.wake(1)
    assert writer.take(1000) == []


@pytest.mark.parametrize("ready", [True, False])
def test_a_source_is_released_when_its_channel_closes(ready: bool) -> None:
    _, server, writer = serving(1)
    source = Stock(None if ready else 0)
    writer.attach(1, source)
    writer.take(1)
    gone = weakref.ref(source)
    server.send_error(1, HawseError("cancelled"))
    del source
    gc.collect()
    assert gone() is None
    writer.wake(1)
    out = writer.take(1000)
    assert len(out) == 1
    assert isinstance(out[0], str)
    assert writer.idle


def test_a_source_for_a_closed_channel_is_not_attached() -> None:
    _, server, writer = serving(1)
    server.send_result(1)
    writer.attach(1, source := Stock(None))
    assert frames(writer.take(1000)) == []
    assert source.pulls == 0


def test_detaching_an_unknown_channel_does_nothing() -> None:
    _, _, writer = serving(1)
    writer.detach(1)
    writer.detach(99)
    writer.wake(99)
    assert writer.take(1000) == []


def test_control_and_frames_of_one_channel_keep_their_order() -> None:
    client, server, writer = serving(1)

    def first(connection: Connection, ch: int) -> bool:
        connection.send_event(ch, "resized")
        connection.send_data(ch, Kind.OUTPUT, 0, b"a")
        connection.send_event(ch, "live")
        return True

    def second(connection: Connection, ch: int) -> bool:
        connection.send_data(ch, Kind.OUTPUT, 1, b"b")
        connection.send_result(ch)
        return False

    server.send_event(1, "opened")
    writer.attach(1, Script(first, second))
    got = []
    for message in writer.take(1000):
        if isinstance(message, str):
            client.receive_text(message)
        else:
            client.receive_data(message)
        got += [getattr(event, "name", type(event).__name__) for event in client.events()]
    assert got == ["opened", "resized", "Data", "live", "Data", "Result"]


def test_no_frame_is_larger_than_what_is_taken() -> None:
    _, _, writer = serving(2)
    for ch in (1, 2):
        writer.attach(ch, Stock(None))
    assert frames(writer.take(30)) == [(1, 30)]
    assert frames(writer.take(30)) == [(2, 30)]
    assert frames(writer.take(PAYLOAD)) == [(1, PAYLOAD)]
