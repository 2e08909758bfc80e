"""The stream carrier over a real socket pair, on asyncio's loop and on uvloop's."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvloop

from hawse.link.keystrokes import SMALL, TYPING, Keystrokes
from hawse.link.stream_link import BATCH, CONGESTED, WRITE_BUFFER, StreamLink
from hawse.wire import (
    Call,
    Connection,
    Data,
    Error,
    Event,
    Hello,
    Kind,
    Limits,
    Message,
    Ping,
    RemoteProtocolError,
    Result,
    Role,
    StreamDecoder,
    Welcome,
    encode_stream,
)
from hawse.wire.frames import HEADER_SIZE

WINDOW = 4 << 20
SOCKET_BUFFER = 64 << 10
# Maximum that a link holds for a peer that does not read: the transport's buffer, a batch that overshot it, one slice.
HELD = WRITE_BUFFER + BATCH + Limits().payload + 4096

Scenario = Callable[[], Coroutine[Any, Any, None]]


@pytest.fixture(params=[None, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[[Scenario], None]:
    """Run a scenario to its end on one of the loops."""

    async def bounded(scenario: Scenario) -> None:
        async with asyncio.timeout(20):
            await scenario()

    def run(scenario: Scenario) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(bounded(scenario))

    return run


class Owner:
    """A `Receiver` that records events and also passes each to `act`."""

    def __init__(self, act: Callable[[StreamLink, Any], object] | None = None) -> None:
        self.got: list[Any] = []
        self.lost: list[Exception | None] = []
        self._act = act
        self._changed = asyncio.Event()

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        if isinstance(event, Data):  # its payload is a view
            self.got.append(Data(event.kind, event.ch, event.offset, bytes(event.payload)))
        else:
            self.got.append(event)
        self._changed.set()
        if isinstance(event, Hello):
            link.connection.send_welcome("test", identity="i", role="r")
            link.flush()
        if self._act is not None:
            self._act(link, event)

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        self.lost.append(error)
        self._changed.set()

    async def until(self, holds: Callable[[], object]) -> None:
        while not holds():
            self._changed.clear()
            await self._changed.wait()

    async def has(self, kind: type) -> Any:
        """Wait for the first event of a type and return it."""
        await self.until(lambda: any(isinstance(event, kind) for event in self.got))
        return next(event for event in self.got if isinstance(event, kind))

    async def loses(self) -> Exception | None:
        """Wait until the link is lost and return the reason; it must be lost only once."""
        await self.until(lambda: self.lost)
        await asyncio.sleep(0)
        assert len(self.lost) == 1
        return self.lost[0]


class Flood:
    """An endless source, within the window."""

    def __init__(self) -> None:
        self.sent = 0

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        size = min(size, connection.window(ch))
        if size:
            connection.send_data(ch, Kind.OUTPUT, self.sent, bytes(size))
            self.sent += size
        return connection.window(ch) > 0


class Peer:
    """The other end as a plain socket: it reads only on request and sends any bytes."""

    def __init__(self, sock: socket.socket) -> None:
        self.connection = Connection(Role.CLIENT, window=WINDOW)
        self._sock = sock
        self._decoder = StreamDecoder(Limits())

    async def send(self, raw: bytes | None = None) -> None:
        data = b"".join(encode_stream(self.connection.data_to_send())) if raw is None else raw
        await asyncio.get_running_loop().sock_sendall(self._sock, data)

    async def read(self) -> list[Any] | None:
        """Return the events of the next bytes, or None at the end of the stream."""
        chunk = await asyncio.get_running_loop().sock_recv(self._sock, 1 << 16)
        for is_control, message in self._decoder.feed(chunk):
            if is_control:
                self.connection.receive_text(message)
            else:
                self.connection.receive_data(message)
        return list(self.connection.events()) if chunk else None

    async def read_to_end(self) -> list[Any]:
        found: list[Any] = []
        try:
            while (events := await self.read()) is not None:
                found += events
        except ConnectionResetError:
            pass
        return found

    async def greet(self) -> None:
        self.connection.send_hello("peer")
        await self.send()
        while not self.connection.ready:
            await self.read()

    def close(self) -> None:
        self._sock.close()


def sockets() -> tuple[socket.socket, socket.socket]:
    pair = socket.socketpair()
    for sock in pair:
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
    return pair


async def make(sock: socket.socket, connection: Connection, owner: Owner, **options: Any) -> StreamLink:
    loop = asyncio.get_running_loop()
    _, link = await loop.create_unix_connection(lambda: StreamLink(connection, owner, **options), sock=sock)
    return link


@asynccontextmanager
async def two_links(client: Owner, server: Owner) -> AsyncIterator[tuple[StreamLink, StreamLink]]:
    """A client's and a server's link after the handshake."""
    ours, theirs = sockets()
    links = [
        await make(theirs, Connection(Role.SERVER), server),
        await make(ours, Connection(Role.CLIENT, window=WINDOW), client),
    ]
    links[1].connection.send_hello("test")
    links[1].flush()
    await client.has(Welcome)
    try:
        yield links[1], links[0]
    finally:
        for link, owner in ((links[1], client), (links[0], server)):
            link.abort()
            await owner.loses()


@asynccontextmanager
async def link_and_peer(
    owner: Owner, limits: Limits | None = None, **options: Any
) -> AsyncIterator[tuple[StreamLink, Peer]]:
    """A server's link and the plain socket at its other end, after the handshake."""
    ours, theirs = sockets()
    peer = Peer(theirs)
    link = await make(ours, Connection(Role.SERVER, limits), owner, **options)
    try:
        await peer.greet()
        yield link, peer
    finally:
        link.abort()
        await owner.loses()
        peer.close()


def buffered(link: StreamLink) -> int:
    return link.transport.get_write_buffer_size()


def test_messages_and_frames_go_both_ways(run: Callable[[Scenario], None]) -> None:
    def serve(link: StreamLink, event: Any) -> None:
        if isinstance(event, Call):
            link.connection.send_event(event.ch, "opened", {"a": 1})
        if isinstance(event, Data):
            link.connection.send_data(event.ch, Kind.OUTPUT, 0, bytes(event.payload).upper())
            link.connection.send_result(event.ch, "done")

    async def scenario() -> None:
        client, server = Owner(), Owner(serve)
        async with two_links(client, server) as (link, _):
            ch = link.connection.call("echo", {"x": "é"})
            link.connection.send_data(ch, Kind.INPUT, 0, b"abc")
            link.flush()
            await client.has(Result)
            assert [type(event) for event in client.got] == [Welcome, Event, Data, Result]
            assert client.got[2] == Data(Kind.OUTPUT, ch, 0, b"ABC")
            assert server.got[2] == Data(Kind.INPUT, ch, 0, b"abc")
            assert not link.connection.channels

    run(scenario)


def test_a_message_received_byte_by_byte_is_one_message(run: Callable[[Scenario], None]) -> None:
    async def scenario() -> None:
        owner = Owner()
        async with link_and_peer(owner) as (_, peer):
            peer.connection.call("slow", "x" * 50)
            for byte in b"".join(encode_stream(peer.connection.data_to_send())):
                await peer.send(bytes([byte]))
            assert (await owner.has(Call)).method == "slow"

    run(scenario)


def test_a_flush_while_receiving_waits_until_all_received_messages_are_handled(run: Callable[[Scenario], None]) -> None:
    pending = []

    def serve(link: StreamLink, event: Any) -> None:
        if isinstance(event, Call):
            link.connection.send_result(event.ch, event.method)
            link.flush()
            pending.append(link.connection.pending)

    async def scenario() -> None:
        owner = Owner(serve)
        async with link_and_peer(owner) as (_, peer):
            for _ in range(3):
                peer.connection.call("m")
            await peer.send()
            results: list[Any] = []
            while len(results) < 3:
                results += await peer.read() or []
            assert 0 < pending[0] < pending[1] < pending[2]

    run(scenario)


def test_sources_are_not_pulled_for_a_peer_that_does_not_read(run: Callable[[Scenario], None]) -> None:
    async def scenario() -> None:
        owner = Owner()
        async with link_and_peer(owner) as (link, peer):
            for _ in range(3):
                peer.connection.call("m")
            await peer.send()
            await owner.until(lambda: len(link.connection.channels) == 3)
            floods = [Flood() for _ in range(3)]
            for ch, flood in enumerate(floods, 1):
                link.attach(ch, flood)
            stalled = sum(flood.sent for flood in floods)
            assert buffered(link) <= HELD
            assert link.connection.pending == 0
            for ch in (1, 2, 3, 1):
                link.wake(ch)
            link.flush()
            assert sum(flood.sent for flood in floods) == stalled < 3 * WINDOW

            read = 0
            while read < 3 * WINDOW:
                read += sum(len(event.payload) for event in await peer.read() or [])
                assert buffered(link) <= HELD
            assert [flood.sent for flood in floods] == [WINDOW] * 3
            assert read == 3 * WINDOW

    run(scenario)


def test_control_messages_overtake_data_that_is_not_pulled_yet(run: Callable[[Scenario], None]) -> None:
    async def scenario() -> None:
        owner = Owner()
        async with link_and_peer(owner) as (link, peer):
            peer.connection.call("m")
            await peer.send()
            await owner.has(Call)
            link.attach(1, flood := Flood())
            link.connection.ping(1)
            before = flood.sent
            seen = 0
            while events := await peer.read():
                pings = [event for event in events if isinstance(event, Ping)]
                seen += sum(len(event.payload) for event in events if isinstance(event, Data))
                if pings:
                    break
            # Behind what was pulled before it, and the batch that was taken with it.
            assert seen <= before + BATCH + Limits().payload + HEADER_SIZE

    run(scenario)


def test_a_peer_that_does_not_read_its_control_messages_is_dropped(run: Callable[[Scenario], None]) -> None:
    async def scenario() -> None:
        owner = Owner()
        limits = Limits(backlog=100_000)
        async with link_and_peer(owner, limits) as (link, _):
            sent = 0
            while not owner.lost and sent < 100 * limits.backlog:
                link.connection.goaway("x" * 1000, 1)
                link.flush()
                sent += 1000
                if link.transport.is_closing():
                    break
            error = await owner.loses()
            assert isinstance(error, RemoteProtocolError)
            assert (error.code, error.close_code) == ("backlog", 4429)
            assert sent < HELD + limits.backlog + 4 * SOCKET_BUFFER

    run(scenario)


def test_a_congested_server_reads_on_when_its_answers_were_read(run: Callable[[Scenario], None]) -> None:
    answered = 0

    def answer(link: StreamLink, event: Any) -> None:
        nonlocal answered
        if isinstance(event, Call):
            answered += 1
            link.connection.send_result(event.ch, "x" * 100_000)

    async def scenario() -> None:
        client = Owner()
        async with two_links(client, Owner(answer)) as (ours, _):
            for _ in range(200):
                ours.connection.call("m", {})
            ours.flush()
            await client.until(lambda: sum(isinstance(event, Result) for event in client.got) == 200)
            assert not client.lost

    run(scenario)
    assert answered == 200


def test_a_congested_server_gives_up_a_client_that_reads_nothing(run: Callable[[Scenario], None]) -> None:
    def answer(link: StreamLink, event: Any) -> None:
        if isinstance(event, Call):
            link.connection.send_result(event.ch, "x" * 100_000)

    async def scenario() -> None:
        owner = Owner(answer)
        async with link_and_peer(owner, stall_timeout=0.05) as (_, peer):
            for _ in range(50):
                peer.connection.call("m", {})
            await peer.send()
            error = await owner.loses()
            assert isinstance(error, RemoteProtocolError)
            assert (error.code, error.close_code) == ("backlog", 4429)
            calls = sum(isinstance(event, Call) for event in owner.got)
            assert calls <= 2 * (CONGESTED // 100_000 + 1), "what the transport took, and as much again"

    run(scenario)


def test_a_protocol_violation_is_answered_and_ends_the_link_once(run: Callable[[Scenario], None]) -> None:
    async def scenario() -> None:
        owner = Owner()
        async with link_and_peer(owner) as (link, peer):
            await peer.send(b"".join(encode_stream(['{"type":"cancel","ch":7}', '{"type":"ping","t":1}'])))
            (error,) = await peer.read_to_end()
            assert isinstance(error, Error)
            assert (error.ch, error.code) == (None, "protocol_error")
            why = await owner.loses()
            assert isinstance(why, RemoteProtocolError)
            assert link.closed
            assert [type(event) for event in owner.got] == [Hello]
            link.wake(1)
            link.flush()
            link.close()
            link.abort(ValueError("too late"))

    run(scenario)


@pytest.mark.parametrize("raw", [b"\0\0\0\0", b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\x05\x09abcd"])
def test_bytes_of_another_protocol_end_the_link(run: Callable[[Scenario], None], raw: bytes) -> None:
    async def scenario() -> None:
        owner = Owner()
        async with link_and_peer(owner) as (_, peer):
            await peer.send(raw)
            await peer.read_to_end()
            assert isinstance(await owner.loses(), RemoteProtocolError)

    run(scenario)


def test_a_client_whose_server_violates_the_protocol_closes_without_a_message(run: Callable[[Scenario], None]) -> None:
    async def scenario() -> None:
        client, server = Owner(), Owner()
        async with two_links(client, server) as (_, link):
            link.transport.write(b"".join(encode_stream(['{"type":"result","ch":5,"value":1}'])))
            assert isinstance(await client.loses(), RemoteProtocolError)
            assert await server.loses() is None
            assert [type(event) for event in server.got] == [Hello]

    run(scenario)


def test_closing_ends_even_if_the_last_messages_are_not_read(run: Callable[[Scenario], None]) -> None:
    async def scenario() -> None:
        owner = Owner()
        async with link_and_peer(owner, close_timeout=0.01) as (link, peer):
            peer.connection.call("m")
            await peer.send()
            await owner.has(Call)
            link.attach(1, flood := Flood())
            sent = flood.sent
            assert buffered(link) > 0
            link.close()
            assert await owner.loses() is None
            assert flood.sent == sent  # nothing is pulled for a link that closes

    run(scenario)


def test_closing_writes_queued_messages(run: Callable[[Scenario], None]) -> None:
    async def scenario() -> None:
        owner = Owner()
        async with link_and_peer(owner) as (link, peer):
            link.connection.goaway("bye", 1)
            link.close()
            link.close()
            (goaway,) = await peer.read_to_end()
            assert goaway.reason == "bye"
            assert await owner.loses() is None

    run(scenario)


def test_a_link_that_is_closed_while_receiving_handles_nothing_more(run: Callable[[Scenario], None]) -> None:
    def leave(link: StreamLink, event: Any) -> None:
        if isinstance(event, Call):
            link.close()

    async def scenario() -> None:
        owner = Owner(leave)
        async with link_and_peer(owner) as (_, peer):
            for _ in range(3):
                peer.connection.call("m")
            await peer.send()
            assert await owner.loses() is None
            assert [type(event) for event in owner.got] == [Hello, Call]

    run(scenario)


def test_the_link_ends_when_the_peer_closes(run: Callable[[Scenario], None]) -> None:
    async def scenario() -> None:
        owner = Owner()
        async with link_and_peer(owner) as (_, peer):
            peer.close()
            assert await owner.loses() is None

    run(scenario)


def test_a_bug_in_the_owner_ends_the_link_and_not_the_loop(
    run: Callable[[Scenario], None], caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: StreamLink, event: Any) -> None:
        if isinstance(event, Call):
            raise ZeroDivisionError

    async def scenario() -> None:
        owner = Owner(fail)
        async with link_and_peer(owner) as (_, peer):
            peer.connection.call("m")
            await peer.send()
            assert isinstance(await owner.loses(), ZeroDivisionError)
            assert await peer.read_to_end() == []

    run(scenario)
    assert "link failed" in caplog.text


def test_a_bug_in_a_source_ends_the_link_and_not_the_caller_of_wake(
    run: Callable[[Scenario], None], caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Flood):
        def pull(self, connection: Connection, ch: int, size: int) -> bool:
            if self.sent > 2 * BATCH:
                raise ZeroDivisionError
            return super().pull(connection, ch, size)

    async def scenario() -> None:
        owner = Owner()
        async with link_and_peer(owner) as (link, peer):
            peer.connection.call("m")
            await peer.send()
            await owner.has(Call)
            link.attach(1, Broken())
            await peer.read_to_end()
            assert isinstance(await owner.loses(), ZeroDivisionError)

    run(scenario)
    assert "link failed" in caplog.text


def test_a_source_that_flushes_in_its_turn_does_not_overtake_taken_messages(run: Callable[[Scenario], None]) -> None:
    class Hasty:
        link: StreamLink

        def pull(self, connection: Connection, ch: int, size: int) -> bool:
            connection.send_data(ch, Kind.OUTPUT, 0, b"x")
            self.link.flush()
            connection.send_result(ch)
            self.link.wake(2)
            return False

    async def scenario() -> None:
        owner = Owner()
        async with link_and_peer(owner) as (link, peer):
            peer.connection.call("m")
            peer.connection.call("m")
            await peer.send()
            await owner.until(lambda: len(link.connection.channels) == 2)
            link.writer.attach(2, Hasty())
            link.writer.attach(1, source := Hasty())
            link.writer.detach(2)
            source.link = link
            link.connection.send_event(1, "opened")
            link.flush()
            found: list[Any] = []
            while len(found) < 3:
                found += await peer.read() or []
            assert [type(event) for event in found] == [Event, Data, Result]

    run(scenario)


def test_a_link_that_was_never_connected_writes_nothing() -> None:
    link = StreamLink(Connection(Role.CLIENT, window=0), Owner())
    link.connection.send_hello("early")
    link.flush()
    link.close()
    link.abort()
    assert link.connection.pending > 0


def test_little_is_in_flight_while_somebody_types_and_much_afterwards(run: Callable[[Scenario], None]) -> None:
    async def scenario() -> None:
        now = 0.0
        keystrokes = Keystrokes(lambda: now)
        source = Flood()

        def serve(link: StreamLink, event: Any) -> None:
            if isinstance(event, Call):
                link.attach(event.ch, source)

        server = Owner(serve)
        async with link_and_peer(server, keystrokes=keystrokes) as (link, peer):
            received = bytearray()
            sizes: list[int] = []

            async def read(until: Callable[[], bool]) -> None:
                while not until():
                    for event in await peer.read() or ():
                        assert event.offset == len(received)
                        received.extend(event.payload)
                        sizes.append(len(event.payload))

            keystrokes.note(1)
            ch = peer.connection.call("m")
            await peer.send()
            await server.has(Call)
            # In the socket, whose kernel counts what it needs itself as well; in the transport; the last turn.
            assert source.sent <= 5 * SMALL
            await read(lambda: len(received) > 20 * SMALL)
            assert max(sizes) <= SMALL
            assert source.sent - len(received) <= 5 * SMALL

            now += 2 * TYPING
            await read(lambda: max(sizes) > SMALL)
            await read(lambda: source.sent - len(received) > WRITE_BUFFER)

            keystrokes.note(1)
            sent = source.sent
            await read(lambda: len(received) > sent + 2 * SMALL)
            sizes.clear()
            await read(lambda: len(received) > sent + 20 * SMALL)
            assert max(sizes) <= SMALL
            assert source.sent - len(received) <= 5 * SMALL
            assert link.connection.window(ch) == WINDOW - source.sent

    run(scenario)
