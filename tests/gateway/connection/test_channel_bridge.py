"""A bridge between two connections in this process: no socket, no loop."""

from typing import Any

import pytest
from msgspec import Raw

from hawse.wire import (
    Call,
    Cancel,
    Credit,
    Data,
    End,
    Error,
    Event,
    FairWriter,
    HawseError,
    Kind,
    Limits,
    Result,
)
from hawse_gateway.connection.channel_bridge import ChannelBridge
from hawse_gateway.connection.credit_budget import CreditBudget
from tests.support.pairs import FakeHost, Pair, deliver


class Link:
    """As much of a `StreamLink` as a bridge uses. `paused`: its transport takes nothing."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.connection = pair.client
        self.writer = FairWriter(pair.client)
        self.paused = False
        self.alone = 0.0
        self.received: list[Any] = []  # what the runtime got

    def attach(self, ch: int, source: Any) -> None:
        self.writer.attach(ch, source)
        self.flush()

    def wake(self, ch: int) -> None:
        self.writer.wake(ch)
        self.flush()

    def flush(self) -> None:
        while not self.paused and (batch := self.writer.take(65_536)):
            self.received += deliver(batch, self.pair.server)


class Rig:
    """Client ↔ host | bridge | link ↔ runtime."""

    def __init__(self, *, window: int = 1000, budget: CreditBudget | None = None, input_window: int = 262_144) -> None:
        self.outer = Pair(window=window)
        self.inner = Pair(window=0, input_window=input_window)
        self.inner.client.call("another")  # so that the numbers differ
        self.inner.to_server()
        self.client, self.runtime = self.outer.client, self.inner.server
        self.host = FakeHost(self.outer, budget or CreditBudget())
        self.link = Link(self.inner)
        self.ch = self.client.call("echo", {"a": 1}, key="k", timeout=5.0, age=2.0)
        (call,) = self.outer.to_server()
        self.bridge = ChannelBridge(self.host, call)
        self.link_ch = 0

    def start(self) -> "Rig":
        self.link_ch = self.bridge.start(self.link)
        return self

    def from_client(self) -> None:
        for message in self.outer.to_server():
            if isinstance(message, Credit):
                self.bridge.grant()
            else:
                self.bridge.send(message)

    def from_runtime(self) -> None:
        for message in self.inner.to_client():
            match message:
                case Data():
                    self.bridge.receive_data(message)
                case Credit():
                    self.bridge.receive_credit(message)
                case Event() | Result() | Error():
                    self.bridge.receive_message(message)


@pytest.fixture
def rig() -> Rig:
    return Rig().start()


def test_the_call_is_sent_on_a_channel_of_the_link_with_the_clients_window(rig: Rig) -> None:
    call, credit = rig.link.received
    assert isinstance(call, Call)
    assert (call.ch, call.method, bytes(call.params), call.key) == (2, "echo", b'{"a":1}', "k")
    assert (credit.ch, credit.bytes) == (2, 1000)


def test_the_time_that_a_call_waited_adds_to_its_age_and_counts_toward_its_timeout() -> None:
    rig = Rig()
    rig.bridge.start(rig.link, 3.5)
    assert (rig.link.received[0].timeout, rig.link.received[0].age) == (1.5, 5.5)


def test_a_call_that_waited_longer_than_its_timeout_has_the_least_timeout() -> None:
    rig = Rig()
    rig.bridge.start(rig.link, 2e9)
    assert (rig.link.received[0].timeout, rig.link.received[0].age) == (0.001, 1e9)


@pytest.mark.parametrize(("alone", "age"), [(5.9, 6.0), (6.0, 6.0), (6.1, None)])
def test_a_repeat_that_no_other_runtime_can_have_run_is_sent_without_an_age(alone: float, age: float | None) -> None:
    rig = Rig()
    rig.link.alone = alone
    rig.bridge.start(rig.link, waited=4.0)
    assert rig.link.received[0].age == age


def test_an_event_too_large_for_the_client_ends_its_channel_and_no_other(rig: Rig) -> None:
    rig.client.channels[rig.ch].receive_window = rig.outer.server.channels[rig.ch].send_window = 4 << 20
    value = Raw(b'"' + b"x" * (Limits().text - 10) + b'"')
    rig.bridge.receive_message(Event(ch=rig.link_ch, name="e", value=value))
    (error,) = rig.host.read()
    assert (error.ch, error.code) == (rig.ch, "too_large")
    assert rig.host.released == [rig.ch]


def test_output_is_sent_at_once_when_the_client_is_idle(rig: Rig) -> None:
    rig.runtime.send_data(rig.link_ch, Kind.STDERR, 7, b"abc")
    rig.from_runtime()
    assert rig.host.connection.pending
    (frame,) = rig.host.read()
    assert (frame.kind, frame.ch, frame.offset, bytes(frame.payload)) == (Kind.STDERR, rig.ch, 7, b"abc")


def test_output_waits_its_turn_when_the_client_is_busy_and_keeps_its_order(rig: Rig) -> None:
    for offset in range(0, 30, 3):
        rig.runtime.send_data(rig.link_ch, Kind.OUTPUT, offset, b"abc")
    rig.runtime.send_event(rig.link_ch, "exit", {"code": 0})
    rig.runtime.send_result(rig.link_ch, "done")
    rig.from_runtime()
    first, rest, event, result = rig.host.read()
    assert (bytes(first.payload), bytes(rest.payload)) == (b"abc", b"abc" * 9)
    assert isinstance(event, Event)
    assert isinstance(result, Result)
    assert rig.host.released == [rig.ch]


def test_a_result_on_an_empty_channel_goes_before_another_channels_bytes(rig: Rig) -> None:
    other = rig.client.call("other")
    (call,) = rig.outer.to_server()
    second = ChannelBridge(rig.host, call)
    number = second.start(rig.link)
    for offset in range(0, 900, 300):
        rig.runtime.send_data(rig.link_ch, Kind.OUTPUT, offset, bytes(300))
    rig.from_runtime()
    rig.runtime.send_result(number, "quick")
    for message in rig.inner.to_client():
        second.receive_message(message)
    kinds = [(type(message).__name__, message.ch) for message in rig.host.read()]
    assert kinds == [("Data", rig.ch), ("Result", other), ("Data", rig.ch)]


def test_credit_of_the_client_is_passed_on_to_the_runtime(rig: Rig) -> None:
    rig.runtime.send_data(rig.link_ch, Kind.OUTPUT, 0, bytes(1000))
    rig.from_runtime()
    rig.host.read()
    assert rig.runtime.window(rig.link_ch) == 0
    rig.client.grant(rig.ch, 600)
    rig.from_client()
    assert rig.runtime.window(rig.link_ch) == 600


def test_credit_held_back_by_the_budget_is_granted_as_the_client_reads() -> None:
    rig = Rig(window=100_000, budget=CreditBudget(total=20_000, floor=10_000)).start()
    assert rig.runtime.window(rig.link_ch) == 20_000
    rig.runtime.send_data(rig.link_ch, Kind.OUTPUT, 0, bytes(20_000))
    rig.from_runtime()
    rig.host.read()
    assert rig.runtime.window(rig.link_ch) == 20_000
    assert rig.client.channels[rig.ch].receive_window == 80_000


def test_empty_frames_are_dropped(rig: Rig) -> None:
    rig.runtime.send_data(rig.link_ch, Kind.OUTPUT, 0, b"")
    rig.from_runtime()
    assert rig.host.read() == []


def test_input_end_and_cancel_are_forwarded_immediately(rig: Rig) -> None:
    rig.client.send_data(rig.ch, Kind.INPUT, 0, b"ls\n")
    rig.client.end(rig.ch)
    rig.client.cancel(rig.ch)
    rig.from_client()
    data, end, cancel = rig.link.received[2:]
    assert (data.kind, data.ch, data.offset, bytes(data.payload)) == (Kind.INPUT, rig.link_ch, 0, b"ls\n")
    assert isinstance(end, End)
    assert isinstance(cancel, Cancel)
    assert rig.host.waiting == 0


def test_input_for_a_link_without_window_waits_and_is_counted(rig: Rig) -> None:
    rig.link.paused = True
    for offset in range(3):
        rig.client.send_data(rig.ch, Kind.INPUT, offset, b"x")
    rig.client.cancel(rig.ch)
    rig.from_client()
    assert rig.host.waiting > 2
    rig.link.paused = False
    rig.link.flush()
    assert [type(message).__name__ for message in rig.link.received[2:]] == ["Data", "Data", "Data", "Cancel"]
    assert rig.host.waiting == 0


def test_nothing_overtakes_input_that_waits_for_a_window() -> None:
    rig = Rig(input_window=10).start()
    rig.client.send_data(rig.ch, Kind.INPUT, 0, b"more than ten")
    rig.client.end(rig.ch)
    rig.from_client()
    assert len(rig.link.received) == 2
    rig.runtime.grant(rig.link_ch, 10)
    rig.from_runtime()
    assert [type(message).__name__ for message in rig.link.received[2:]] == ["Data", "End"]


def test_credit_for_applied_input_is_granted_to_the_client(rig: Rig) -> None:
    rig.client.send_data(rig.ch, Kind.INPUT, 0, bytes(60_000))
    rig.from_client()
    before = rig.client.window(rig.ch)
    rig.runtime.grant(rig.link_ch, 60_000)
    rig.from_runtime()
    rig.outer.to_client()
    assert rig.client.window(rig.ch) == before + 60_000


def test_messages_sent_before_the_link_is_ready_follow_the_call() -> None:
    rig = Rig()
    rig.client.send_data(rig.ch, Kind.INPUT, 0, b"early")
    rig.client.end(rig.ch)
    rig.from_client()
    rig.start()
    assert [type(message).__name__ for message in rig.link.received] == ["Call", "Credit", "Data", "End"]


def test_credit_received_before_the_link_is_ready_is_part_of_the_first_grant() -> None:
    rig = Rig()
    rig.client.grant(rig.ch, 500)
    rig.from_client()
    rig.start()
    assert rig.runtime.window(rig.link_ch) == 1500


def test_cancel_before_the_link_is_ready_closes_the_channel() -> None:
    rig = Rig()
    rig.client.cancel(rig.ch)
    rig.from_client()
    (error,) = rig.host.read()
    assert (error.code, error.admitted) == ("cancelled", "no")
    assert rig.bridge.done


def test_a_failure_follows_the_output_received_before_it(rig: Rig) -> None:
    for offset in range(0, 6, 3):
        rig.runtime.send_data(rig.link_ch, Kind.OUTPUT, offset, b"abc")
    rig.from_runtime()
    rig.bridge.fail(HawseError("interrupted", "the line broke", admitted="unknown"))
    *data, error = rig.host.read()
    assert b"".join(bytes(frame.payload) for frame in data) == b"abcabc"
    assert (error.code, error.admitted, error.retryable) == ("interrupted", "unknown", True)


def test_messages_after_the_runtimes_final_message_are_dropped(rig: Rig) -> None:
    for offset in range(0, 6, 3):
        rig.runtime.send_data(rig.link_ch, Kind.OUTPUT, offset, b"abc")
    rig.runtime.send_result(rig.link_ch, "done")
    rig.from_runtime()  # the result waits behind the bytes
    rig.client.send_data(rig.ch, Kind.INPUT, 0, b"late")
    rig.client.grant(rig.ch, 100)
    rig.client.end(rig.ch)
    rig.from_client()
    assert rig.host.waiting == 0
    assert isinstance(rig.host.read()[-1], Result)


def test_an_abandoned_channel_is_cancelled_and_frees_its_buffers(rig: Rig) -> None:
    rig.link.paused = True
    rig.client.send_data(rig.ch, Kind.INPUT, 0, b"x")
    rig.from_client()
    rig.link.paused = False
    rig.bridge.abandon()
    rig.bridge.abandon()
    assert isinstance(rig.link.received[-1], Cancel)
    assert rig.host.waiting == 0
    assert rig.bridge.link is None


def test_a_link_without_a_free_channel_is_an_error_and_attaches_nothing() -> None:
    rig = Rig()
    rig.inner.client.channels.update(dict.fromkeys(range(2, 1025), rig.inner.client.channels[1]))
    with pytest.raises(HawseError, match="limit_exceeded"):
        rig.start()
    assert rig.bridge.link is None
