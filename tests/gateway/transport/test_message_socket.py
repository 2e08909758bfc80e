"""Messages that bypass the parser: each frame is read exactly once, wherever the bytes are split."""

import asyncio
from collections.abc import Iterable
from typing import Any, cast

import pytest
from hypothesis import given, strategies as st
from websockets.frames import Frame, Opcode

from hawse_gateway.transport.message_socket import BINARY, JOINED, TEXT, MessageSocket
from hawse_gateway.transport.uvicorn_websocket import WebSocketProtocol
from tests.support.gateway import Gateway, frame

LIMIT = 70_000
SIZES = (0, 1, 125, 126, 65_535, 65_536, LIMIT)
PING, CLOSE = 9, 8


class FakeTransport:
    def __init__(self) -> None:
        self.protocol: Any = None
        self.written = b""
        self.closing = False

    def set_protocol(self, protocol: object) -> None:
        self.protocol = protocol

    def is_closing(self) -> bool:
        return self.closing

    def write(self, data: bytes) -> None:
        self.written += data

    def writelines(self, parts: Iterable[bytes]) -> None:
        self.written += b"".join(parts)


class FakeParser:
    """Records what it is given, among the messages."""

    over = False

    def __init__(self) -> None:
        self.seen: list[str | bytes | tuple[str, bytes]] = []
        self.ends_at: bytes | None = None  # after this frame, no more messages are allowed

    def take(self, data: bytes) -> None:
        self.seen.append(("parser", data))
        self.over = self.over or data == self.ends_at

    def refuse_text(self) -> None:
        self.over = True
        self.seen.append("refused")

    def attach(self, receiver: object) -> None: ...

    def receive(self, message: str | bytes) -> None:
        self.seen.append(message)

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...


def socket() -> tuple[MessageSocket, FakeTransport, FakeParser]:
    """A socket with a receiver, which is the parser as well."""
    transport, parser = FakeTransport(), FakeParser()
    made = MessageSocket(cast(asyncio.Transport, transport), cast(Any, parser), LIMIT)
    made.attach(cast(Any, parser))
    assert is_protocol(transport, made)
    return made, transport, parser


def is_protocol(transport: FakeTransport, protocol: object) -> bool:
    return transport.protocol is protocol


def feed(made: MessageSocket, data: bytes, cuts: Iterable[int]) -> None:
    at = 0
    for cut in [*sorted(cuts), len(data)]:
        made.data_received(data[at:cut])
        at = cut


def _joined(seen: Iterable[Any]) -> list[Any]:
    """Join what the parser was given without a message between."""
    found: list[Any] = []
    for item in seen:
        last = found[-1] if found else None
        if isinstance(item, tuple) and isinstance(last, tuple):
            found[-1] = ("parser", last[1] + item[1])
        else:
            found.append(item)
    return found


messages = st.one_of(
    st.sampled_from(SIZES).map(bytes),
    st.binary(max_size=200),
    st.text(max_size=60),
)
others = st.sampled_from(
    [frame(PING, b"x"), frame(10, b""), frame(1, b"a", fin=False) + frame(PING, b"") + frame(0, b"b")]
)


@given(st.lists(st.one_of(messages, others.map(lambda sent: ("parser", sent))), max_size=8), st.data())
def test_each_frame_goes_to_the_right_reader_wherever_the_bytes_are_cut(sent: list[Any], data: st.DataObject) -> None:
    raw = b""
    expected: list[Any] = []
    for item in sent:
        if isinstance(item, tuple):
            raw += item[1]
            expected.append(item)
        else:
            raw += frame(1, item.encode()) if isinstance(item, str) else frame(2, item)
            expected.append(item)
    made, _, parser = socket()
    feed(made, raw, data.draw(st.sets(st.integers(0, len(raw)), max_size=6)))
    assert _joined(parser.seen) == _joined(expected)
    assert made.received == len(raw)
    assert made.bytes_in == sum(
        len(item.encode() if isinstance(item, str) else item) for item in sent if not isinstance(item, tuple)
    )


@pytest.mark.parametrize(
    "mistake",
    [
        frame(2, bytes(LIMIT + 1)),
        b"\x82\x01x",  # without a mask
        b"\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff",  # of 16 exabytes
    ],
)
def test_from_a_frame_that_is_refused_on_everything_is_for_the_parser(mistake: bytes) -> None:
    for cut in range(2, 12):
        made, _, parser = socket()
        feed(made, frame(2, b"before") + mistake + frame(2, b"behind"), [len(frame(2, b"before")) + cut])
        first, *rest = parser.seen
        assert first == b"before"
        assert b"".join(item[1] for item in rest) == mistake + frame(2, b"behind")  # type: ignore[misc]
        assert not made.has_room


def test_a_message_within_another_ones_fragments_is_for_the_parser() -> None:
    made, _, parser = socket()
    within = frame(1, b"a", fin=False) + frame(2, b"within")
    made.data_received(within)
    assert b"".join(item[1] for item in parser.seen) == within  # type: ignore[misc]


def test_nothing_behind_a_close_is_a_message() -> None:
    made, _, parser = socket()
    parser.ends_at = frame(CLOSE, b"")
    made.data_received(frame(CLOSE, b"") + frame(2, b"behind"))
    assert _joined(parser.seen) == [("parser", frame(CLOSE, b"") + frame(2, b"behind"))]


def test_text_that_is_not_utf8_is_refused() -> None:
    made, _, parser = socket()
    made.data_received(frame(1, b"\xff") + frame(1, b"behind"))
    assert parser.seen == ["refused", ("parser", frame(1, b"behind"))]


def test_without_a_receiver_the_parser_reads_on_where_the_socket_has_stopped() -> None:
    made, transport, parser = socket()
    sent = frame(2, b"cut")
    made.data_received(sent[:4])
    made.attach(None)
    assert parser.seen == [("parser", sent[:4])]
    assert is_protocol(transport, parser)
    made.attach(cast(Any, parser))
    assert is_protocol(transport, parser)  # it has read a part of a frame


def test_a_receiver_may_be_attached_again_between_frames() -> None:
    made, transport, parser = socket()
    made.data_received(frame(2, b"one"))
    made.attach(None)
    assert is_protocol(transport, parser)
    made.attach(cast(Any, parser))
    assert is_protocol(transport, made)


@pytest.mark.parametrize("size", [*SIZES, JOINED, JOINED + 1])
def test_each_written_message_is_a_frame(size: int) -> None:
    made, transport, _ = socket()
    made.write(b"x" * size)
    made.write("y" * size)
    expected = [Frame(Opcode.BINARY, b"x" * size), Frame(Opcode.TEXT, b"y" * size)]
    assert transport.written == b"".join(each.serialize(mask=False) for each in expected)
    assert (transport.written[0], made.bytes_out, made.written) == (BINARY, 2 * size, len(transport.written))
    assert transport.written[len(transport.written) // 2] == TEXT


def test_it_has_room_unless_its_transport_is_full_or_closing() -> None:
    made, transport, _ = socket()
    made.full = True
    assert not made.has_room
    made.full = False
    assert made.has_room
    transport.closing = True
    assert not made.has_room


def test_a_parser_that_reads_all_frames_decides_when_it_is_over() -> None:
    made, _, parser = socket()
    made.aligned = False
    assert made.has_room
    parser.over = True
    assert not made.has_room


async def test_the_messages_of_a_client_do_not_pass_the_parser(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        (protocol,) = (each for each in gateway.connections if isinstance(each, WebSocketProtocol))
        used: object = protocol.transport.get_protocol()
        assert used is protocol.messages
        assert await peer.ask("answer", {"x": 1}) == {"x": 1}
