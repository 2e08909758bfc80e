"""Fuzzes the wire protocol: control messages and frames, valid and damaged, in every state of a connection.

A case is JSON: the role and state of the receiving side, and the input: texts, and frames in hex. Whatever arrives, the
side either accepts it or raises `RemoteProtocolError`, keeps its windows within bounds, and sends only messages that
the other side accepts.
"""

import json
import random
from typing import Any, Literal

from hawse.wire import Connection, Data, Kind, Limits, RemoteProtocolError, Role, StreamDecoder
from hawse.wire.frames import encode_frame, encode_shared
from hawse.wire.messages import encode, from_client, from_server
from tests.fuzz.mutations import ODD_NUMBERS, mutated, odd_value
from tests.fuzz.target import Target, stateless
from tests.support import wire as kit

LIMITS = Limits(text=4096, payload=256, channels=4, window_max=3000, input_window=500)
CODES = kit.close_codes()
FROM_CLIENT: dict[str, dict[str, Any]] = {
    "hello": {"protocol": 1, "client": "c", "window": 100, "token": "t", "abilities": ["shared"]},
    "call": {"ch": 5, "method": "m", "sandbox": "s", "params": {"a": 1}, "key": "k", "timeout": 1, "age": 0},
    "cancel": {"ch": 1},
    "end": {"ch": 1},
    "credit": {"ch": 1, "bytes": 10},
    "ping": {"t": 1.5},
    "pong": {"t": 1},
}
FROM_SERVER: dict[str, dict[str, Any]] = {
    "welcome": {"protocol": 1, "server": "s", "identity": "i", "role": "r", "limits": {"text": 1000, "payload": 1}},
    "event": {"ch": 1, "name": "n", "value": {"a": [1]}, "seq": 3},
    "result": {"ch": 1, "value": None},
    "error": {"ch": 1, "code": "internal", "message": "m", "retryable": False, "admitted": "no", "details": {"a": 1}},
    "credit": {"ch": 1, "bytes": 10},
    "ping": {"t": 1.5},
    "pong": {"t": 1},
    "goaway": {"reason": "r", "retry_after": 1},
}
CHANNELS = (0, 1, 2, 3, 4, 5, 6, 7, 9, 2**32 - 1)
TOKENS = (b'"ch":1,', b'"type":"call",', b"\\ud800", b"\\u0000", b"[" * 2000, b'{"a":' * 500, b"1e999", b"\xff", b"-0")
STATES = ("fresh", "greeted", "ready", "calls")

Side = Literal["client", "server"]


def make(rng: random.Random) -> bytes:
    side: Side = rng.choice(("client", "server"))
    steps = [_text(rng, side) if rng.random() < 0.6 else _frame(rng, side) for _ in range(rng.randint(1, 30))]
    return json.dumps(
        {"receives": side, "state": rng.choice(STATES), "shared": rng.random() < 0.5, "steps": steps}
    ).encode()


def _text(rng: random.Random, side: Side) -> dict[str, str]:
    """Return a message for `side` or the other one, possibly with wrong fields or damaged text."""
    known = FROM_CLIENT if (side == "server") is (rng.random() < 0.95) else FROM_SERVER
    kind = rng.choice(list(known))
    fields: dict[str, Any] = {"type": kind} | known[kind]
    if "ch" in fields:
        fields["ch"] = rng.choice(CHANNELS)
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        name = rng.choice([*fields, "x"])
        if rng.random() < 0.3:
            fields.pop(name, None)
        else:
            fields[name] = odd_value(rng)
    data = json.dumps(fields, ensure_ascii=rng.random() < 0.5).encode(errors="surrogatepass")
    if rng.random() < 0.15:
        data = mutated(rng, data, TOKENS)
    return {"text": data.decode("latin-1")}


def _frame(rng: random.Random, side: Side) -> dict[str, str]:
    kind = Kind.INPUT if side == "server" else rng.choice((Kind.OUTPUT, Kind.STDERR, Kind.SCREEN))
    if rng.random() < 0.05:
        kind = rng.choice(list(Kind))
    offset = int(abs(rng.choice(ODD_NUMBERS))) % 2**53
    payload = rng.randbytes(rng.choice((0, 1, 10, 100, 256, 257)))
    if rng.random() < 0.1:
        data = encode_shared(kind, rng.sample(CHANNELS, rng.randint(0, 5)), offset, payload)
    else:
        data = encode_frame(kind, rng.choice(CHANNELS), offset, payload)
    if rng.random() < 0.2:
        data = mutated(rng, data)
    return {"frame": data.hex()}


# ---- running cases


def run(case: bytes) -> None:
    """Run one case. Raises `AssertionError`, or the product's exception."""
    given = json.loads(case)
    receiver = in_state(given["receives"], given["state"], shared=given["shared"])
    broken: RemoteProtocolError | None = None
    for step in given["steps"]:
        before = {ch: channel.send_window for ch, channel in receiver.channels.items()}
        error = violation(receiver, step)
        assert broken is None or error is broken, "a message was accepted after a violation, or has another error"
        assert error is None or error.close_code in CODES
        broken = error
        check(receiver, before)
    split_alike(b"".join(step_bytes(step) for step in given["steps"]), len(case))


def in_state(side: Side, state: str, *, shared: bool) -> Connection:
    """Return a side in this state. In `calls`, it has channels 1 (open), 2 (ended), 3 (cancelling), 4 (closed)."""
    if state == "calls":
        client, server = kit.four_calls()
        return client if side == "client" else server
    client, server = Connection(Role.CLIENT, window=100), Connection(Role.SERVER, LIMITS)
    if state != "fresh":
        client.send_hello("test", shares=shared)
        kit.deliver(client, server)
    if state == "ready":
        server.send_welcome("test", identity="i", role="r")
        kit.deliver(server, client)
    return client if side == "client" else server


def violation(receiver: Connection, step: dict[str, str]) -> RemoteProtocolError | None:
    """Pass a step to the receiver; return the detected violation, if any."""
    try:
        if "frame" in step:
            receiver.receive_data(bytes.fromhex(step["frame"]))
        else:
            receiver.receive_text(step["text"].encode("latin-1"))
    except RemoteProtocolError as error:
        return error
    return None


def check(receiver: Connection, before: dict[int, int]) -> None:
    """Assert that the windows are within bounds, and that the output can be decoded and forwarded."""
    assert len(receiver.channels) <= receiver.limits.channels
    for ch, channel in receiver.channels.items():
        if receiver.role is Role.SERVER:
            assert 0 <= channel.receive_window <= receiver.limits.input_window
        if ch in before:
            assert channel.send_window <= max(receiver.limits.window_max, before[ch])
    own, other = (from_server, from_client) if receiver.role is Role.SERVER else (from_client, from_server)
    for message in receiver.data_to_send():
        own.decode(message)
    for event in receiver.events():
        if isinstance(event, Data):
            assert event.ch in receiver.channels, "a frame of a channel that is not open"
            continue
        again = other.decode(parsed(encode(event)))
        assert again == event, "forwarding changes a message"


def parsed(text: bytes) -> bytes:
    """Assert that another decoder also accepts a message as UTF-8 JSON."""
    json.loads(text.decode())
    return text


def step_bytes(step: dict[str, str]) -> bytes:
    data = bytes.fromhex(step["frame"]) if "frame" in step else step["text"].encode("latin-1")
    return len(data).to_bytes(4, "big") + data


def split_alike(stream: bytes, seed: int) -> None:
    """Assert that a stream yields the same messages wherever it is split."""
    rng = random.Random(seed)
    pieces = []
    while stream:
        size = rng.choice((1, 3, 4, 5, 100))
        pieces.append(stream[:size])
        stream = stream[size:]
    assert decoded([b"".join(pieces)]) == decoded(pieces)


def decoded(chunks: list[bytes]) -> list[object]:
    decoder, found = StreamDecoder(LIMITS), list[object]()
    try:
        for chunk in chunks:
            for control, message in decoder.feed(chunk):
                found.append((control, bytes(message)))
    except RemoteProtocolError as error:
        found.append(str(error))
    return found


TARGET = Target("wire", make, stateless(run), cases=400)
