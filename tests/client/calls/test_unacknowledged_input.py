"""The resend buffer against a model: a server that applies input and may be disconnected at any time."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hawse.client.calls.unacknowledged_input import InputBuffer
from hawse.wire import HawseError, RemoteProtocolError

LIMIT = 50


class Resending(RuleBasedStateMachine):
    """Frames travel in order on the present channel; a cut loses any tail of them, and any tail of the credits."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = InputBuffer(LIMIT)
        self.written = b""
        self.applied = b""  # by the server
        self.way: list[tuple[int, bytes]] = []  # frames under way
        self.credits: list[int] = []  # credits under way
        self.late: list[tuple[int, bytes]] = []  # frames of a dead channel that may still be applied

    @rule(data=st.binary(max_size=30))
    def write(self, data: bytes) -> None:
        taken = self.buffer.append(data)
        assert taken == min(len(data), LIMIT - (len(self.written) - self.buffer.applied))
        self.written += data[:taken]

    @rule(size=st.integers(1, 20))
    def send(self, size: int) -> None:
        offset, payload = self.buffer.take(size)
        if payload:
            self.way.append((offset, payload))

    @precondition(lambda self: self.way)
    @rule()
    def apply(self) -> None:
        offset, payload = self.way.pop(0)
        self._apply(offset, payload)
        self.credits.append(len(payload))

    @precondition(lambda self: self.late)
    @rule()
    def apply_late(self) -> None:
        self._apply(*self.late.pop(0))

    def _apply(self, offset: int, payload: bytes) -> None:
        assert offset <= len(self.applied), "a gap"
        assert self.written[offset : offset + len(payload)] == payload, "an offset was reused for other bytes"
        self.applied += payload[len(self.applied) - offset :]

    @precondition(lambda self: self.credits)
    @rule()
    def credit(self) -> None:
        self.buffer.credited(self.credits.pop(0))

    @precondition(lambda self: not self.late)
    @rule(survive=st.booleans())
    def cut_and_reattach(self, survive: bool) -> None:
        self.late = self.way if survive else []
        self.way, self.credits = [], []
        self.buffer.reattach(len(self.applied))

    @rule()
    def confirm_without_a_cut(self) -> None:
        if len(self.applied) <= self.buffer.sent:
            self.buffer.confirmed(len(self.applied))

    @invariant()
    def nothing_unconfirmed_is_lost(self) -> None:
        assert self.buffer.applied <= len(self.applied)
        assert self.buffer.end == len(self.written)
        assert self.buffer.applied <= self.buffer.sent <= self.buffer.end
        assert self.buffer.end - self.buffer.applied <= LIMIT

    def teardown(self) -> None:
        """On a line that stays, everything arrives."""
        self.late = []
        self.buffer.reattach(len(self.applied))
        while self.buffer.unsent:
            self._apply(*self.buffer.take(7))
        assert self.applied == self.written


TestResending = Resending.TestCase


def test_credit_lost_with_a_connection_is_not_missed() -> None:
    buffer = InputBuffer(10)
    assert buffer.append(b"0123456789abc") == 10
    buffer.take(6)
    buffer.reattach(4)
    assert (buffer.applied, buffer.room) == (4, 4)
    assert buffer.take(100) == (4, b"456789")
    buffer.credited(6)
    assert (buffer.applied, buffer.room) == (10, 10)


def test_a_server_that_lost_applied_input_differs_from_a_faulty_one() -> None:
    buffer = InputBuffer(10)
    buffer.append(b"0123")
    buffer.take(4)
    buffer.credited(4)
    with pytest.raises(HawseError) as caught:
        buffer.reattach(0)
    assert (caught.value.code, caught.value.admitted, caught.value.details) == ("input_gap", "unknown", {"applied": 0})
    assert not isinstance(caught.value, RemoteProtocolError)


def test_a_server_that_applied_what_was_never_written_is_broken() -> None:
    buffer = InputBuffer(10)
    buffer.append(b"0123")
    with pytest.raises(RemoteProtocolError):
        buffer.reattach(5)
    with pytest.raises(RemoteProtocolError):
        buffer.credited(1)
    with pytest.raises(RemoteProtocolError):
        buffer.confirmed(1)


def test_after_the_end_nothing_is_taken() -> None:
    buffer = InputBuffer(10)
    buffer.ended = True
    assert buffer.room == 0
    assert buffer.append(b"x") == 0
