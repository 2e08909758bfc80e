"""The connection: the dialogues of the vectors, two ends back to back against a plain model, and hostile input."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hawse.wire import (
    ERRORS,
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
from hawse.wire.frames import OFFSET_MAX, encode_frame, encode_shared
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
        """Hand the receiver the very bytes of the step."""
        if "text" in step:
            receiver.receive_text(step["text"])
        else:
            frame = step["frame"]
            receiver.receive_data(
                encode_frame(frame["kind"], frame["ch"], int(frame["offset"]), bytes(frame["length"]))
            )
        return list(receiver.events())

    def send(self, step: kit.Entry, sender: Connection) -> None:
        """Do the same through the sender's API."""
        if "frame" in step:
            frame = step["frame"]
            sender.send_data(frame["ch"], Kind(frame["kind"]), int(frame["offset"]), bytes(frame["length"]))
            return
        match (from_client if step["from"] == "client" else from_server).decode(step["text"]):
            case Hello() as hello:
                if hello.protocol != 1:
                    raise LocalProtocolError("we speak another version")
                sender._window = hello.window
                sender.send_hello(hello.client)
            case Welcome() as welcome:
                if welcome.protocol != 1:
                    raise LocalProtocolError("we speak another version")
                sender.send_welcome(welcome.server, identity=welcome.identity, role=welcome.role)
            case Call() as call:
                if call.ch <= sender._last:
                    raise LocalProtocolError("`call` does not use a number again")
                sender._last = call.ch - 1
                sender.call(call.method, call.params)
            case Event() as event:
                sender.send_event(event.ch, event.name, event.value, seq=event.seq)
            case Result() as result:
                sender.send_result(result.ch, result.value)
            case Error(ch=int(ch)) as error:
                sender.send_error(ch, error.to_exception())
            case Error() as error:
                sender.say(error.to_exception())
            case Cancel(ch=ch):
                if sender.channels[ch].state is ChannelState.CANCELLING:
                    raise LocalProtocolError("`cancel` says it once")
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
def test_a_dialogue_goes_as_written(session: kit.Entry) -> None:
    play = Dialogue(session)
    for step in session["steps"]:
        sender, receiver = play.sides(step)
        if "error" in step:
            with pytest.raises((LocalProtocolError, HawseError, KeyError)):
                play.send(step, sender)
            with pytest.raises(RemoteProtocolError) as caught:
                play.arrive(step, receiver)
            assert (caught.value.code, caught.value.close_code) == (step["error"]["code"], step["error"]["close_code"])
            check_last_words(receiver, caught.value)
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


def check_last_words(connection: Connection, error: RemoteProtocolError) -> None:
    """A server has queued one `error` without ch; a client says nothing. Neither listens any more."""
    out = [from_server.decode(message) for message in connection.data_to_send() if isinstance(message, str)]
    said = [message for message in out if isinstance(message, Error) and message.ch is None]
    assert [message.code for message in said] == ([error.code] if connection.role is Role.SERVER else [])
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
    """One direction: a byte stream that is cut anywhere, and the plain model of what it must bring."""

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
    """A client and a server do what they may, at any time; the bytes between them are cut and delayed at will."""

    def __init__(self) -> None:
        super().__init__()
        self.client, self.server = kit.pair(LIMITS, window=WINDOW)
        self.up, self.down = Line(self.client, self.server), Line(self.server, self.client)
        self.up.back, self.down.back = self.down, self.up
        self.byte = 0

    def bytes(self, size: int) -> bytes:
        """Bytes that are not alike, so that one lost or twice is seen."""
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
    def fall_quiet(self) -> None:
        """Carry until nothing moves; then both sides know the same."""
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
    def what_came_is_what_was_sent_so_far(self) -> None:
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
        self.fall_quiet()


BackToBack.TestCase.settings = settings(max_examples=120, stateful_step_count=60, deadline=None, derandomize=True)
TestTwoEndsBackToBackAgreeWithAPlainModel = BackToBack.TestCase


# ---- hostile input

CLOSE_CODES = kit.close_codes()
SEEDS = [
    kit.wire_form(entry)
    for part in ("valid", "tolerated", "invalid")
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


def in_some_state(role: Role, calls: int) -> Connection:
    """A connection with a few channels open, ended, cancelling and closed; `calls` < 0: not even greeted."""
    if calls < 0:
        return Connection(role, LIMITS)
    client, server = kit.pair(Limits(channels=8))
    for ch in range(1, calls + 1):
        client.call("m")
        (lambda _: None, client.end, client.cancel)[ch % 3](ch)
    kit.deliver(client, server)
    if calls > 2:
        server.send_result(2)
        kit.deliver(server, client)
    return client if role is Role.CLIENT else server


@pytest.mark.parametrize("role", Role)
@settings(max_examples=400, deadline=None, derandomize=True)
@given(calls=st.integers(-1, 8), messages=HOSTILE)
def test_hostile_input_is_the_other_sides_fault_and_nothing_else(
    role: Role, calls: int, messages: list[tuple[bool, bytes]]
) -> None:
    connection = in_some_state(role, calls)
    caught: RemoteProtocolError | None = None
    for is_control, message in messages:
        try:
            if is_control:
                connection.receive_text(message)
            else:
                connection.receive_data(memoryview(message))
        except RemoteProtocolError as error:
            caught = caught or error
        for event in connection.events():
            repr(event)
    if caught is not None:
        assert caught.close_code in CLOSE_CODES
        assert caught.code in ERRORS
    reader = from_client if role is Role.CLIENT else from_server
    out = [reader.decode(message) for message in connection.data_to_send() if isinstance(message, str)]
    said = [message.code for message in out if isinstance(message, Error) and message.ch is None]
    assert said == ([caught.code] if caught is not None and role is Role.SERVER else [])
    assert connection.pending == 0


# ---- our own side


def misuses() -> dict[str, Callable[[Connection, Connection], object]]:
    """By what is wrong: a client with channels 1 (open), 2 (ended), 3 (cancelling), 4 (closed), and its server."""
    return {
        "a call by a server": lambda _, server: server.call("m"),
        "a call with an empty method": lambda client, _: client.call(""),
        "a call with too long a key": lambda client, _: client.call("m", key="k" * 129),
        "a call whose timeout is 0": lambda client, _: client.call("m", timeout=0),
        "a call with params that are no JSON": lambda client, _: client.call("m", kit.raw(b"{]")),
        "input on an ended channel": lambda client, _: client.send_data(2, Kind.INPUT, 0, b""),
        "input on a cancelled channel": lambda client, _: client.send_data(3, Kind.INPUT, 0, b""),
        "input on a closed channel": lambda client, _: client.send_data(4, Kind.INPUT, 0, b""),
        "input on an unknown channel": lambda client, _: client.send_data(9, Kind.INPUT, 0, b""),
        "input by a server": lambda _, server: server.send_data(1, Kind.INPUT, 0, b""),
        "output by a client": lambda client, _: client.send_data(1, Kind.OUTPUT, 0, b""),
        "input beyond the window": lambda client, _: client.send_data(1, Kind.INPUT, 0, bytes(101)),
        "output beyond the window": lambda _, server: server.send_data(1, Kind.OUTPUT, 0, bytes(201)),
        "a payload beyond the limit": lambda _, server: server.send_data(1, Kind.OUTPUT, 0, bytes(151)),
        "an offset beyond 2^53": lambda _, server: server.send_data(1, Kind.OUTPUT, OFFSET_MAX, b"x"),
        "a negative offset": lambda _, server: server.send_data(1, Kind.OUTPUT, -1, b"x"),
        "end twice": lambda client, _: client.end(2),
        "end after cancel": lambda client, _: client.end(3),
        "end by a server": lambda _, server: server.end(1),
        "cancel by a server": lambda _, server: server.cancel(1),
        "an event by a client": lambda client, _: client.send_event(1, "n"),
        "a result by a client": lambda client, _: client.send_result(1),
        "an error by a client": lambda client, _: client.send_error(1, HawseError("internal")),
        "a result on a closed channel": lambda _, server: server.send_result(4),
        "a second hello": lambda client, _: client.send_hello("again"),
        "a hello by a server": lambda _, server: server.send_hello("me"),
        "a second welcome": lambda _, server: server.send_welcome("s", identity="i", role="r"),
        "a welcome by a client": lambda client, _: client.send_welcome("s", identity="i", role="r"),
    }


@pytest.mark.parametrize("wrong", misuses())
def test_our_own_mistake_is_a_local_error_and_nothing_is_sent(wrong: str) -> None:
    client, server = kit.pair(Limits(input_window=100, payload=150), window=200)
    for _ in range(4):
        client.call("m")
    client.end(2)
    client.cancel(3)
    kit.deliver(client, server)
    server.send_result(4)
    kit.deliver(server, client)
    with pytest.raises(LocalProtocolError):
        misuses()[wrong](client, server)
    for connection in (client, server):
        assert connection.data_to_send() == []
        assert list(connection.channels) == [1, 2, 3]
        states = [channel.state for channel in connection.channels.values()]
        assert states == [ChannelState.OPEN, ChannelState.ENDED, ChannelState.CANCELLING]


def test_nothing_but_hello_is_sent_before_the_handshake() -> None:
    client, server = Connection(Role.CLIENT), Connection(Role.SERVER)
    for early in (
        lambda: client.call("m"),
        lambda: client.ping(1),
        lambda: server.ping(1),
        lambda: server.send_welcome("s", identity="i", role="r"),
    ):
        with pytest.raises(LocalProtocolError):
            early()
    assert client.data_to_send() == server.data_to_send() == []


def test_a_ping_may_come_between_hello_and_welcome() -> None:
    client, server = Connection(Role.CLIENT), Connection(Role.SERVER)
    client.send_hello("c")
    client.ping(5)
    kit.deliver(client, server)
    server.ping(6)
    assert kit.deliver(server, client) == [Pong(t=5)]
    assert kit.deliver(client, server) == [Pong(t=6)]


def test_a_cancel_again_or_of_a_closed_channel_is_quiet() -> None:
    client, server = kit.pair()
    client.call("m")
    client.cancel(1)
    client.cancel(1)
    assert len(client.data_to_send()) == 2
    client.cancel(99)
    assert client.data_to_send() == []
    assert server.grant(99, 5) == 0
    assert server.window(99) == 0


def test_a_call_may_open_its_channel_with_a_larger_window() -> None:
    client, server = kit.pair(window=100)
    client.call("m", window=5000)
    client.call("m", window=50)
    kit.deliver(client, server)
    assert [server.window(ch) for ch in (1, 2)] == [5000, 100]


def test_a_grant_is_cut_to_what_the_window_lacks_and_is_sent_in_steps() -> None:
    client, server = kit.pair(window=10)
    client.call("m")
    kit.deliver(client, server)
    server.send_event(1, "n", "x" * 100_000)
    kit.deliver(server, client)
    lacking = client.limits.window_max - 10 + 100_002 + EVENT_OVERHEAD
    assert client.grant(1, 1 << 40) == lacking
    credits_ = kit.deliver(client, server)
    assert sum(credit.bytes for credit in credits_) == lacking
    assert server.window(1) == client.limits.window_max
    assert client.grant(1, 1) == 0
    assert client.data_to_send() == []


def test_what_is_on_its_way_is_known_also_when_events_and_credit_cross() -> None:
    """Of a difference of windows it cannot be told: the one hides the other."""
    client, server = kit.pair(window=1000)
    client.call("m")
    kit.deliver(client, server)
    server.send_data(1, Kind.OUTPUT, 0, b"x" * 300)
    kit.deliver(server, client)
    client.grant(1, 300)
    server.send_event(1, "n", "y" * 34)
    kit.deliver(client, server)
    assert server.flow(1) == (300 + 36 + EVENT_OVERHEAD, 300)
    kit.deliver(server, client)
    client.grant(1, 36 + EVENT_OVERHEAD + 500)
    kit.deliver(client, server)
    assert server.flow(1) == (400, 400)  # a window that grows gives nothing back
    assert server.flow(2) == (0, 0)


def test_a_window_that_began_above_the_maximum_is_not_lowered_by_a_grant() -> None:
    client, server = kit.pair(Limits(window_max=50), window=100)
    client.call("m")
    kit.deliver(client, server)
    server.receive_text('{"type":"credit","ch":1,"bytes":10}')
    assert server.window(1) == 100
    assert client.grant(1, 10) == 0


def test_what_would_be_too_large_to_send_is_refused_here_and_the_connection_lives() -> None:
    client, server = kit.pair(Limits(text=2000))
    with pytest.raises(HawseError, match="too_large"):
        client.call("m", "x" * 2000)
    assert client.call("m") == 1
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


def test_an_error_whose_details_are_no_json_closes_nothing() -> None:
    client, server = kit.pair()
    client.call("m")
    kit.deliver(client, server)
    with pytest.raises(TypeError):
        server.send_error(1, HawseError("internal", details=object()))
    assert 1 in server.channels
    server.send_error(1, HawseError("internal"))


def test_a_servers_last_word_is_said_once_and_a_client_has_none() -> None:
    client, server = kit.pair()
    server.say(HawseError("backlog"))
    server.say(HawseError("internal"))
    client.say(HawseError("internal"))
    assert client.data_to_send() == []
    (error,) = kit.deliver(server, client)
    assert (error.ch, error.code, error.retryable) == (None, "backlog", True)


def test_pending_counts_bytes_until_they_are_taken() -> None:
    client, server = kit.pair()
    client.call("é")
    (text,) = [message for message in client._out if isinstance(message, str)]
    assert client.pending == len(text.encode()) == len(text) + 1
    kit.deliver(client, server)
    assert client.pending == 0
    server.send_data(1, Kind.OUTPUT, 0, b"abc")
    assert server.pending == 13 + 3


def test_the_channel_numbers_run_out_once() -> None:
    client, _ = kit.pair()
    client._last = (1 << 32) - 2
    assert client.call("m") == (1 << 32) - 1
    with pytest.raises(LocalProtocolError, match="reconnect"):
        client.call("m")


# ---- frames for many channels


def sharing(*, shares: bool) -> tuple[Connection, Connection, list[int]]:
    """A client and a server, and three open channels with a window of 100 bytes."""
    client, server = Connection(Role.CLIENT, window=100), Connection(Role.SERVER)
    client.send_hello("test", shares=shares)
    kit.deliver(client, server)
    server.send_welcome("test", identity="i", role="r")
    kit.deliver(server, client)
    chs = [client.call("m") for _ in range(3)]
    kit.deliver(client, server)
    return client, server, chs


def test_a_shared_frame_is_an_event_for_each_channel_and_costs_each_its_window() -> None:
    client, server, chs = sharing(shares=True)
    server.send_shared(chs, Kind.OUTPUT, 7, b"x" * 60)
    assert [server.window(ch) for ch in chs] == [40, 40, 40]
    received = kit.deliver(server, client)
    assert [(data.ch, data.offset, bytes(data.payload)) for data in received] == [(ch, 7, b"x" * 60) for ch in chs]
    with pytest.raises(LocalProtocolError):
        server.send_shared(chs, Kind.OUTPUT, 67, b"x" * 41)


def test_a_shared_frame_beyond_one_window_breaks_the_protocol() -> None:
    client, server, chs = sharing(shares=True)
    for ch in chs:
        server.channels[ch].send_window = 1000
    server.send_shared(chs, Kind.OUTPUT, 0, b"x" * 101)
    with pytest.raises(RemoteProtocolError) as caught:
        kit.deliver(server, client)
    assert caught.value.code == "credit_exceeded"


def test_who_did_not_offer_to_take_shared_frames_gets_none() -> None:
    client, server, chs = sharing(shares=False)
    with pytest.raises(LocalProtocolError):
        server.send_shared(chs, Kind.OUTPUT, 0, b"x")
    with pytest.raises(RemoteProtocolError):
        client.receive_data(encode_shared(Kind.OUTPUT, chs, 0, b"x"))


def test_a_client_sends_none() -> None:
    client, _, chs = sharing(shares=True)
    with pytest.raises(LocalProtocolError):
        client.send_shared(chs, Kind.INPUT, 0, b"x")
