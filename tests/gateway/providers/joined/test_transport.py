import asyncio

from hawse_gateway.providers.joined.transport import MachineTransport
from tests.support.joining import FakeSocket


class Link(asyncio.Protocol):
    """Notes what it is notified of."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.notes: list[str] = []
        self.lost = asyncio.Event()
        self.error: Exception | None = None

    def data_received(self, data: bytes) -> None:
        self.received.append(data)

    def pause_writing(self) -> None:
        self.notes.append("pause")

    def resume_writing(self) -> None:
        self.notes.append("resume")

    def connection_lost(self, exc: Exception | None) -> None:
        self.error = exc
        self.lost.set()


def made() -> tuple[FakeSocket, Link, MachineTransport, list[bool]]:
    socket, link, closed = FakeSocket(), Link(), [False]
    return socket, link, MachineTransport(socket, link, lambda: closed.append(True)), closed


async def test_one_write_is_one_binary_message_and_messages_are_bytes() -> None:
    socket, link, transport, _ = made()
    transport.writelines([b"a", memoryview(b"bc")])
    transport.write(b"")
    assert socket.written == [b"abc"]
    transport.receive(b"d")
    assert link.received == [b"d"]


async def test_a_full_websocket_pauses_the_link_once_and_room_resumes_it() -> None:
    socket, link, transport, _ = made()
    socket.has_room = False
    transport.write(b"a")
    transport.write(b"b")
    transport.resume_writing()
    transport.resume_writing()
    assert link.notes == ["pause", "resume"]


async def test_the_link_decides_when_the_websocket_is_read() -> None:
    socket, _, transport, _ = made()
    transport.pause_reading()
    assert not socket.reading
    transport.resume_reading()
    assert socket.reading


async def test_a_closed_link_is_notified_later_and_passes_nothing_on() -> None:
    socket, link, transport, closed = made()
    transport.close()
    transport.abort()
    assert transport.is_closing()
    assert not link.lost.is_set()
    transport.write(b"a")
    transport.receive(b"b")
    await link.lost.wait()
    assert (link.error, link.received, socket.written, closed) == (None, [], [], [False, True])


async def test_a_lost_websocket_ends_the_link_with_an_error() -> None:
    _, link, transport, _ = made()
    transport.lost()
    transport.lost()
    await link.lost.wait()
    assert isinstance(link.error, ConnectionResetError)
