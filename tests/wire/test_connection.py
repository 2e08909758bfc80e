"""The connection: the dialogues of the vectors, and two ends back to back against a plain model."""

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import assume, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hawse.wire import (
    Call,
    Cancel,
    Connection,
    Credit,
    Data,
    End,
    Error,
    Event,
    HawseError,
    Hello,
    Kind,
    Limits,
    LocalProtocolError,
    Ping,
    Pong,
    RemoteProtocolError,
    Result,
    Role,
    StreamDecoder,
    Welcome,
    encode_stream,
)
from hawse.wire.channel import ChannelState
from hawse.wire.frames import encode_frame
from hawse.wire.limits import EVENT_OVERHEAD
from hawse.wire.messages import from_client, from_server, to_raw
from tests.support import wire as kit

# ---- the dialogues of tests/vectors/sessions.json


class Dialogue:
    """Plays a session: each step is sent through its sender's API, then received by the other side."""

    def __init__(self, session: kit.Entry) -> None:
        limits = Limits(**session.get("limits", {}))
        if session.get("welcomed", True):
            self.client, self.server = kit.pair(limits, window=session["window"])
        else:
            self.client, self.server = Connection(Role.CLIENT), Connection(Role.SERVER, limits)

    def sides(self, step: kit.Entry) -> tuple[Connection, Connection]:
        return (self.client, self.server) if step["from"] == "client" else (self.server, self.client)

    def arrive(self, step: kit.Entry, receiver: Connection) -> list[Any]:
        """Pass the bytes of the step to the receiver and return its events."""
        if "text" in step:
            receiver.receive_text(step["text"])
        else:
            frame = step["frame"]
            receiver.receive_data(
                encode_frame(frame["kind"], frame["ch"], int(frame["offset"]), bytes(frame["length"]))
            )
        return list(receiver.events())

    def send(self, step: kit.Entry, sender: Connection) -> None:
        """Send the step through the sender's API."""
        if "frame" in step:
            frame = step["frame"]
            sender.send_data(frame["ch"], Kind(frame["kind"]), int(frame["offset"]), bytes(frame["length"]))
            return
        match (from_client if step["from"] == "client" else from_server).decode(step["text"]):
            case Hello() as hello:
                if hello.protocol != 1:
                    raise LocalProtocolError("we speak another version")
                sender.channel_window = hello.window
                sender.send_hello(hello.client)
            case Welcome() as welcome:
                if welcome.protocol != 1:
                    raise LocalProtocolError("we speak another version")
                sender.send_welcome(welcome.server, identity=welcome.identity, role=welcome.role)
            case Call() as call:
                if call.ch <= sender.last_channel:
                    raise LocalProtocolError("`call` does not use a number again")
                sender.last_channel = call.ch - 1
                sender.call(call.method, call.params)
            case Event() as event:
                sender.send_event(event.ch, event.name, event.value, seq=event.seq)
            case Result() as result:
                sender.send_result(result.ch, result.value)
            case Error(ch=int(ch)) as error:
                sender.send_error(ch, error.to_exception())
            case Error() as error:
                sender.send_connection_error(error.to_exception())
            case Cancel(ch=ch):
                if sender.channels[ch].state is ChannelState.CANCELLING:
                    raise LocalProtocolError("`cancel` is sent once")
                sender.cancel(ch)
            case End(ch=ch):
                sender.end(ch)
            case Credit(ch=ch, bytes=size):
                if sender.grant(ch, size) != size:
                    raise LocalProtocolError("`grant` gives nothing here")
            case Ping(t=t):
                sender.ping(t)

    def check(self, ch: int, expected: kit.Entry, *, both: bool) -> None:
        sides = ((self.server, "receive_window", "send_window"), (self.client, "send_window", "receive_window"))
        for connection, by_client, by_server in sides if both else sides[:1]:
            if expected["state"] == "closed":
                assert ch not in connection.channels
                continue
            channel = connection.channels[ch]
            assert channel.state is ChannelState(expected["state"])
            assert getattr(channel, by_client) == expected["client_window"]
            assert getattr(channel, by_server) == expected["server_window"]


@pytest.mark.parametrize("session", kit.vectors("sessions.json", "sessions"), ids=kit.called)
def test_a_dialogue_has_the_results_of_its_vector(session: kit.Entry) -> None:
    play = Dialogue(session)
    for step in session["steps"]:
        sender, receiver = play.sides(step)
        if "error" in step:
            with pytest.raises((LocalProtocolError, HawseError, KeyError)):
                play.send(step, sender)
            with pytest.raises(RemoteProtocolError) as caught:
                play.arrive(step, receiver)
            assert (caught.value.code, caught.value.close_code) == (step["error"]["code"], step["error"]["close_code"])
            check_final_error(receiver, caught.value)
            continue
        if not (step.get("late") or step.get("ignored")):
            play.send(step, sender)
            sender.data_to_send()
        events = play.arrive(step, receiver)
        assert len(events) == (0 if step.get("ignored") or "answer" in step else 1)
        answers = receiver.data_to_send()
        assert len(answers) == ("answer" in step)
        for answer in answers:
            reader = from_server if receiver.role is Role.SERVER else from_client
            message = reader.decode(answer)
            got = {name: getattr(message, name) for name in message.__struct_fields__}
            expected = dict(step["answer"])
            assert type(message).__name__.lower() == expected.pop("type")
            assert expected.items() <= got.items()
    for ch, expected in session.get("after", {}).items():
        play.check(int(ch), expected, both=expected["state"] != "closed" or "limits" not in session)


def check_final_error(connection: Connection, error: RemoteProtocolError) -> None:
    """Assert that a server has queued one `error` without `ch`, a client none, and that neither receives any more."""
    out = [from_server.decode(message) for message in connection.data_to_send() if isinstance(message, str)]
    errors = [message for message in out if isinstance(message, Error) and message.ch is None]
    assert [message.code for message in errors] == ([error.code] if connection.role is Role.SERVER else [])
    for again in (lambda: connection.receive_text('{"type":"pong","t":1}'), lambda: connection.receive_data(b"")):
        with pytest.raises(RemoteProtocolError) as caught:
            again()
        assert caught.value is error
    assert connection.data_to_send() == []
    assert list(connection.events()) == []


# ---- two ends, back to back

LIMITS = Limits(text=4096, payload=64, channels=4, window_max=3000, input_window=200)
WINDOW = 300
SIZES = st.integers(0, 80)
NUMBER = st.integers(0, 10_000)


class Line:
    """One direction: a byte stream that is split anywhere, and the plain model of what it must deliver."""

    def __init__(self, sender: Connection, receiver: Connection) -> None:
        self.sender = sender
        self.receiver = receiver
        self.back: Line  # the other direction
        self.decoder = StreamDecoder(LIMITS)
        self.wire = bytearray()
        self.sent: dict[int, list[Any]] = defaultdict(list)  # by channel, in order
        self.got: dict[int, list[Any]] = defaultdict(list)
        self.offsets: dict[tuple[int, Kind], int] = defaultdict(int)
        self.streams: dict[tuple[int, Kind], bytearray] = defaultdict(bytearray)  # what has come, per channel and kind
        self.window: dict[int, int] = {}  # what `sender` may still send, by the rules of section 4
        self.unapplied: dict[int, int] = defaultdict(int)  # what came and was not given back

    def carry(self, count: int | None) -> None:
        for part in encode_stream(self.sender.data_to_send()):
            self.wire += part
        chunk = bytes(self.wire[:count])
        del self.wire[:count]
        for is_control, message in self.decoder.feed(chunk):
            if is_control:
                self.receiver.receive_text(message)
            else:
                self.receiver.receive_data(message)
            for event in self.receiver.events():
                self.receive(event)

    def receive(self, event: Any) -> None:
        match event:
            case Data(kind=kind, ch=ch, offset=offset, payload=payload):
                assert offset == len(self.streams[ch, kind])
                self.streams[ch, kind] += payload
                self.unapplied[ch] += len(payload)
                self.got[ch].append((kind, offset, bytes(payload)))
            case Event(ch=ch, name=name, value=value):
                self.unapplied[ch] += len(value) + EVENT_OVERHEAD
                self.got[ch].append((name, bytes(value)))
            case Credit(ch=ch, bytes=size):
                window = self.back.window[ch]
                self.back.window[ch] += min(size, LIMITS.window_max - window)
            case Pong():
                pass
            case _:
                self.got[event.ch or 0].append(type(event).__name__)


class BackToBack(RuleBasedStateMachine):
    """A client and a server take any allowed step at any time; the bytes between them are split and delayed."""

    def __init__(self) -> None:
        super().__init__()
        self.client, self.server = kit.pair(LIMITS, window=WINDOW)
        self.up, self.down = Line(self.client, self.server), Line(self.server, self.client)
        self.up.back, self.down.back = self.down, self.up
        self.byte = 0

    def bytes(self, size: int) -> bytes:
        """Bytes that differ, so that a lost or repeated one is detected."""
        self.byte += size
        return bytes((self.byte + i) % 251 for i in range(size))

    def pick(self, connection: Connection, number: int, *states: ChannelState) -> int:
        found = [ch for ch, channel in connection.channels.items() if not states or channel.state in states]
        assume(found)
        return found[number % len(found)]

    def send(self, line: Line, ch: int, kind: Kind, size: int) -> None:
        size = min(size, line.sender.window(ch), LIMITS.payload)
        if line.sender.channels[ch].send_window < 0:
            return  # not even an empty one
        offset = line.offsets[ch, kind]
        payload = self.bytes(size)
        line.sender.send_data(ch, kind, offset, payload)
        line.offsets[ch, kind] += size
        line.sent[ch].append((kind, offset, payload))
        line.window[ch] -= size

    # ---- the client

    @rule(window=st.none() | st.integers(0, 5000), params=st.none() | st.text(max_size=20))
    def call(self, window: int | None, params: str | None) -> None:
        if len(self.client.channels) == LIMITS.channels:
            with pytest.raises(HawseError, match="limit_exceeded"):
                self.client.call("m")
            return
        ch = self.client.call("m", params, window=window)
        self.up.sent[ch].append("Call")
        self.up.window[ch], self.down.window[ch] = LIMITS.input_window, WINDOW

    @rule(number=NUMBER, size=SIZES)
    def input(self, number: int, size: int) -> None:
        self.send(self.up, self.pick(self.client, number, ChannelState.OPEN), Kind.INPUT, size)

    @rule(number=NUMBER)
    def end(self, number: int) -> None:
        ch = self.pick(self.client, number, ChannelState.OPEN)
        self.client.end(ch)
        self.up.sent[ch].append("End")

    @rule(number=NUMBER)
    def cancel(self, number: int) -> None:
        ch = self.pick(self.client, number)
        if self.client.channels[ch].state is not ChannelState.CANCELLING:
            self.up.sent[ch].append("Cancel")
        self.client.cancel(ch)

    @rule(number=NUMBER, size=st.integers(-5, 5000))
    def grant(self, number: int, size: int) -> None:
        ch = self.pick(self.client, number)
        granted = self.client.grant(ch, size)
        assert 0 <= granted <= max(size, 0)

    # ---- the server

    @rule(number=NUMBER, size=SIZES, kind=st.sampled_from([Kind.OUTPUT, Kind.STDERR, Kind.SCREEN]))
    def output(self, number: int, size: int, kind: Kind) -> None:
        self.send(self.down, self.pick(self.server, number), kind, size)

    @rule(number=NUMBER, value=st.text(max_size=200) | st.floats(allow_nan=False, allow_infinity=False) | st.none())
    def event(self, number: int, value: Any) -> None:
        ch = self.pick(self.server, number)
        if not self.server.window(ch):
            with pytest.raises(LocalProtocolError):
                self.server.send_event(ch, "n", value)
            return
        self.server.send_event(ch, "n", value)
        self.down.sent[ch].append(("n", bytes(to_raw(value))))
        self.down.window[ch] -= len(to_raw(value)) + EVENT_OVERHEAD

    @rule(number=NUMBER, part=st.floats(0, 1))
    def give_back(self, number: int, part: float) -> None:
        ch = self.pick(self.server, number)
        size = round(self.up.unapplied[ch] * part)
        assert self.server.grant(ch, size) == size  # never cut: it was there before
        self.up.unapplied[ch] -= size

    @rule(number=NUMBER, well=st.booleans())
    def close(self, number: int, well: bool) -> None:
        ch = self.pick(self.server, number)
        if well:
            self.server.send_result(ch, {"a": 1})
        else:
            self.server.send_error(ch, HawseError("exited", details=[1]))
        self.down.sent[ch].append("Result" if well else "Error")

    # ---- the line

    @rule(up=st.booleans())
    def ping(self, up: bool) -> None:
        (self.client if up else self.server).ping(1.5)

    @rule(up=st.booleans(), count=st.none() | st.integers(1, 100))
    def carry(self, up: bool, count: int | None) -> None:
        (self.up if up else self.down).carry(count)

    @rule()
    def deliver_everything(self) -> None:
        """Deliver all bytes in both directions, then assert that both sides have the same state."""
        while any(line.wire or line.sender.pending for line in (self.up, self.down)):
            self.up.carry(None)
            self.down.carry(None)
        assert self.client.channels.keys() == self.server.channels.keys()
        for ch, mine in self.client.channels.items():
            theirs = self.server.channels[ch]
            assert mine.state is theirs.state
            assert mine.send_window == theirs.receive_window
            assert mine.receive_window == theirs.send_window
            assert self.up.got[ch] == self.up.sent[ch]
        assert self.down.got == self.down.sent

    @invariant()
    def what_was_received_is_a_prefix_of_what_was_sent(self) -> None:
        for line in (self.up, self.down):
            for ch, got in line.got.items():
                assert got == line.sent[ch][: len(got)]

    @invariant()
    def windows_are_those_of_the_model_and_within_what_was_granted(self) -> None:
        for line in (self.up, self.down):
            for ch, channel in line.sender.channels.items():
                assert channel.send_window == line.window[ch] <= LIMITS.window_max
                if theirs := line.receiver.channels.get(ch):
                    assert channel.send_window <= theirs.receive_window
        for channel in self.server.channels.values():
            assert 0 <= channel.receive_window <= LIMITS.input_window

    def teardown(self) -> None:
        self.deliver_everything()


BackToBack.TestCase.settings = settings(max_examples=120, stateful_step_count=60, deadline=None, derandomize=True)
TestTwoEndsBackToBackAgreeWithAPlainModel = BackToBack.TestCase
