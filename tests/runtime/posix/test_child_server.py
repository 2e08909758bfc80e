"""A child process that serves requests over a socket pair: batches, violations of the protocol, its end."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator

import pytest

from hawse.api.types import Exit
from hawse.wire import HawseError
from hawse_runtime.core.framing import LENGTH, ProtocolError, frame
from hawse_runtime.posix.child_server import BATCH, ChildServer
from hawse_runtime.posix.spawn import spawn_own
from tests.support.waiting import Changes

LIMIT = 1000
BACKLOG = 1 << 20

ECHOES = "import os\nwhile data := os.read(3, 1 << 16): os.write(3, data)"
SLEEPS = "import time; time.sleep(600)"
CLOSES = "import os, time; os.close(3); time.sleep(600)"
ANSWERS_AND_EXITS = f"import os; os.write(3, {frame(b'last')!r}); os._exit(3)"


class Server:
    """A `ChildServer` that runs a Python program, and the messages received from it."""

    def __init__(self, program: str) -> None:
        self.messages: list[bytes] = []
        self.exit: Exit | None = None
        self.changes = Changes()
        self.child = ChildServer(
            "test process",
            lambda fd: spawn_own([sys.executable, "-c", program], extra=fd),
            self._received,
            self._exited,
            limit=LIMIT,
            backlog=BACKLOG,
        )

    async def exited(self) -> Exit:
        await self.changes.until(lambda: self.exit is not None)
        assert self.exit is not None
        return self.exit

    def _received(self, message: bytes) -> None:
        if message == b"invalid":
            raise ProtocolError("invalid")
        self.messages.append(message)
        self.changes.notify()

    def _exited(self, exit: Exit) -> None:
        self.exit = exit
        self.changes.notify()


@pytest.fixture
async def servers() -> AsyncIterator[list[Server]]:
    servers: list[Server] = []
    yield servers
    for server in servers:
        server.child.kill()
        await server.child.gone.wait()


def start(servers: list[Server], program: str) -> Server:
    servers.append(Server(program))
    return servers[-1]


async def test_messages_are_sent_and_received(servers: list[Server]) -> None:
    server = start(servers, ECHOES)
    server.child.send(frame(b"one") + frame(b"two"))
    await server.changes.until(lambda: len(server.messages) == 2)
    assert server.messages == [b"one", b"two"]


async def test_a_burst_of_messages_is_handled_in_batches(servers: list[Server]) -> None:
    server = start(servers, ECHOES)
    sent = [b"%d" % number for number in range(100)]
    handled: list[int] = []

    def turn() -> None:
        handled.append(len(server.messages))
        if len(server.messages) < len(sent):
            asyncio.get_running_loop().call_soon(turn)

    asyncio.get_running_loop().call_soon(turn)
    server.child.receive(b"".join(map(frame, sent)))
    await server.changes.until(lambda: len(server.messages) == len(sent))
    assert server.messages == sent
    assert handled[:3] == [BATCH, 2 * BATCH, 3 * BATCH]
    server.child.send(frame(b"more"))  # the connection is read again
    await server.changes.until(lambda: server.messages[-1] == b"more")


@pytest.mark.parametrize(
    "data", [LENGTH.pack(0), LENGTH.pack(LIMIT + 1), frame(b"invalid")], ids=["empty", "too long", "refused"]
)
async def test_a_process_that_violates_the_protocol_is_killed(servers: list[Server], data: bytes) -> None:
    server = start(servers, ECHOES)
    server.child.send(frame(b"one") + data + frame(b"two"))
    assert await server.exited() == Exit(signal="SIGKILL")
    assert server.messages == [b"one"]


async def test_a_process_that_closes_the_connection_is_killed(servers: list[Server]) -> None:
    assert await start(servers, CLOSES).exited() == Exit(signal="SIGKILL")


async def test_a_process_that_does_not_read_is_killed(servers: list[Server]) -> None:
    server = start(servers, SLEEPS)
    for _ in range(2 * BACKLOG // LIMIT):
        server.child.send(frame(bytes(LIMIT)))
    assert await server.exited() == Exit(signal="SIGKILL")


async def test_messages_sent_before_the_exit_are_handled_first(servers: list[Server]) -> None:
    server = start(servers, ANSWERS_AND_EXITS)
    assert await server.exited() == Exit(code=3)
    assert server.messages == [b"last"]


@pytest.mark.parametrize("data", [LENGTH.pack(0), frame(b"invalid")], ids=["too short", "refused"])
async def test_a_violation_before_the_exit_is_the_last_message(
    servers: list[Server], caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    server = start(servers, f"import os; os.write(3, {frame(b'one') + data + frame(b'two')!r}); os._exit(3)")
    server.child.receive(frame(b"x") * (BATCH + 1))  # nothing is read until the next turn,
    os.waitid(os.P_PID, server.child.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222  # which then finds the exit, too
    assert await server.exited() == Exit(code=3)
    assert server.messages == [b"x"] * (BATCH + 1) + [b"one"]
    assert len([record for record in caplog.records if "violated the protocol" in record.message]) == 1


async def test_nothing_is_received_after_disconnecting(servers: list[Server]) -> None:
    server = start(servers, ECHOES)
    server.child.receive(frame(b"x") * (BATCH + 1))
    server.child.disconnect()
    server.child.send(frame(b"dropped"))
    assert await server.exited() == Exit(code=0)
    assert len(server.messages) == BATCH


async def test_a_failure_to_start_leaves_no_connection() -> None:
    def fail(fd: int) -> int:
        raise HawseError("spawn_failed", "no")

    with pytest.raises(HawseError, match="no"):
        ChildServer("test process", fail, lambda message: None, lambda exit: None, limit=1, backlog=1)
