"""A connection to a program as a stream: what is common to tunnels and desktops. Their own tests cover the rest."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import cast

import msgspec
import pytest

from hawse.api import Nothing, Spec
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.rpc.connection_stream import ConnectionStream
from tests.support.runtime import Client, Served


class Anything(msgspec.Struct):
    pass


class Program:
    """The other end: a server that a test reads and writes, with the stream that connects to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.arrived: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
        self.writers: list[asyncio.StreamWriter] = []
        self.go = asyncio.Event()  # the stream may connect
        self.opened: Callable[[], object] = dict
        self.go.set()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        self.arrived.put_nowait((reader, writer))


class ProgramStream(ConnectionStream):
    def __init__(self, call: ServerCall, program: Program, tasks: Tasks) -> None:
        super().__init__(call)
        self._program = program
        tasks.start(self.connect())

    async def _dial(self) -> None:
        await self._program.go.wait()
        await asyncio.get_running_loop().create_unix_connection(lambda: self, str(self._program.path))

    def _connect_error(self, reason: str) -> HawseError:
        return HawseError("unavailable", reason)

    def _opened(self) -> object:
        return self._program.opened()

    def _send_event(self, connection: Connection, ch: int) -> bool:
        return False

    def _allowed(self, data: bytes | memoryview) -> bytes:
        if b"!" in bytes(data):
            raise HawseError("protocol_error", "not allowed")
        return bytes(data)

    def _end_input(self, transport: asyncio.Transport) -> None:
        transport.write_eof()

    def _result(self) -> Nothing:
        self._raise_failure()
        return Nothing()


@pytest.fixture
async def program(client: Client, served: Served, tmp_path: Path) -> AsyncIterator[Program]:
    program = Program(tmp_path / "program")
    async with asyncio.TaskGroup() as group:
        tasks = Tasks(group)

        def serve(call: ServerCall, params: Anything) -> None:
            call.serve(ProgramStream(call, program, tasks))

        served.runtime.server.dispatcher.register(
            Spec("connect", Anything, Nothing, output=("output",), input=True), serve
        )
        async with await asyncio.start_unix_server(program.accept, str(program.path)):
            yield program
            for writer in program.writers:
                writer.close()


async def test_what_a_program_sends_comes_after_opened_and_before_the_result(client: Client, program: Program) -> None:
    call = client.call("connect")
    _, writer = await program.arrived.get()
    writer.write(bytes(300_000))  # more than is read ahead, so it is still being sent when the connection is closed
    writer.close()
    await call.result()
    assert [event.name for event in call.events] == ["opened"]
    assert call.output == bytes(300_000)


async def test_input_and_its_end_may_come_before_the_connection(client: Client, program: Program) -> None:
    program.go.clear()
    call = client.call("connect")
    call.send(b"early")
    call.end()
    await client.info()
    program.go.set()
    reader, writer = await program.arrived.get()
    assert await reader.read() == b"early"
    writer.close()
    await call.result()


async def test_input_that_is_not_allowed_ends_the_call_and_the_connection(client: Client, program: Program) -> None:
    program.go.clear()
    early = client.call("connect")
    early.send(b"a!")
    await client.info()
    program.go.set()
    assert (await early.refusal()).code == "protocol_error"
    reader, _ = await program.arrived.get()
    assert await reader.read() == b""
    late = client.call("connect")
    await late.event("opened")
    late.send(b"b!")
    assert (await late.refusal()).code == "protocol_error"


async def test_an_error_of_opened_ends_the_call_and_the_connection(client: Client, program: Program) -> None:
    def fail() -> object:
        raise HawseError("conflict", "it is gone")

    program.opened = fail
    call = client.call("connect")
    assert (await call.refusal()).code == "conflict"
    assert not call.events


async def test_a_connection_that_breaks_is_an_error(client: Client, program: Program) -> None:
    call = client.call("connect")
    await call.event("opened")
    _, writer = await program.arrived.get()
    cast(asyncio.Transport, writer.transport).pause_reading()
    call.send(b"not read, so that closing breaks the connection")
    await client.info()
    writer.transport.abort()
    assert (await call.refusal()).admitted == "yes"


async def test_a_program_that_does_not_listen_is_an_error(client: Client, program: Program) -> None:
    program.path.unlink()
    error = await client.call("connect").refusal()
    assert (error.code, error.message) == ("unavailable", "No such file or directory")
