"""Processes: the channel without a socket, then the handle against a server."""

import asyncio
import signal

import pytest

import hawse
from hawse.api.processes import ProcessAttach
from hawse.api.types import Exit, StreamName
from hawse.client.base.errors import ClientClosedError, TruncatedError
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.process.attach import ProcessAttachCall
from hawse.client.process.process import Process
from hawse.wire import HawseError, Kind
from tests.support.client import MemoryConnection
from tests.support.fake_server import KILLED, FakeServer
from tests.support.proxy import CuttingProxy

OUT, ERR = Kind.OUTPUT, Kind.STDERR


class Attached:
    def __init__(self, since: dict[StreamName, int] | None = None, window: int = 1000) -> None:
        self.calls = CallTable(Options())
        self.connection = MemoryConnection(self.calls)
        self.call = ProcessAttachCall(ProcessAttach(id="p", lossless=True), sandbox="local", since=since, window=window)
        self.process = Process(self.calls, self.call, "local")
        self.calls.submit(self.call)
        self.connection.pump()

    def opened(self, stdout: int = 0, stderr: int = 0) -> None:
        value = {"id": "p", "instance": "i", "pid": 7, "from": {"stdout": stdout, "stderr": stderr}}
        self.connection.event("opened", {**value, "input_offset": 0})

    def ended(self, stdout: int, stderr: int = 0) -> None:
        self.connection.event("exit", {"code": 0})
        self.connection.result({"exit": {"code": 0}, "stdout": stdout, "stderr": stderr})

    def reconnect(self) -> None:
        self.calls.disconnected()
        self.connection = MemoryConnection(self.calls)


async def test_both_streams_resume_at_their_own_offsets() -> None:
    at = Attached()
    at.opened()
    at.connection.data(OUT, 0, b"one")
    at.connection.data(ERR, 0, b"bad")
    at.connection.data(OUT, 3, b"two")
    at.reconnect()
    assert at.connection.params["since"] == {"stdout": 6, "stderr": 3}
    assert at.connection.params["instance"] == "i"
    at.opened(6, 3)
    at.connection.data(ERR, 3, b"ly")
    at.ended(6, 5)
    got = [(stream, data) async for stream, data in at.process.output()]
    assert got == [("stdout", b"one"), ("stderr", b"bad"), ("stdout", b"two"), ("stderr", b"ly")]
    assert await at.process.wait() == Exit(0)


async def test_without_offsets_everything_that_is_kept_is_read() -> None:
    at = Attached()
    at.opened(stdout=100)
    at.connection.data(OUT, 100, b"tail")
    at.ended(104)
    assert [chunk async for chunk in at.process.stdout] == [b"tail"]


async def test_requested_bytes_that_are_no_longer_kept_are_an_error_and_reading_continues_after_them() -> None:
    at = Attached(since={"stdout": 10})
    at.opened(stdout=100)
    at.connection.data(OUT, 100, b"tail")
    at.connection.event("truncated", {"stream": "stdout", "from": 150})
    at.connection.data(OUT, 150, b"end")
    at.ended(153)
    output = at.process.stdout
    for missing, data in [(90, b"tail"), (46, b"end")]:
        with pytest.raises(TruncatedError) as caught:
            await anext(output)
        assert caught.value.missing == missing
        assert await anext(output) == data


async def test_an_end_beyond_the_received_output_is_an_error() -> None:
    at = Attached()
    at.opened()
    at.connection.data(OUT, 0, b"abc")
    at.ended(4)
    assert await anext(at.process.stdout) == b"abc"
    with pytest.raises(TruncatedError):
        await at.process.wait()


async def test_closing_the_handle_ends_readers_and_waiters() -> None:
    at = Attached()
    at.opened()
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(_code(at.process.stdout.__anext__()))
        waiting = group.create_task(_code(at.process.wait()))
        asyncio.get_running_loop().call_soon(at.process.close)  # runs after the two tasks have started
    assert reading.result() == waiting.result() == ClientClosedError
    with pytest.raises(ClientClosedError):
        await at.process.write(b"x")


async def _code(waiting: object) -> type[BaseException]:
    with pytest.raises(HawseError) as caught:
        await waiting  # type: ignore[misc]
    return caught.type


# ---- against a server


async def test_a_process_is_talked_to_until_its_end(hw: hawse.Client) -> None:
    async with hw.sandbox().processes.start(["cat"], stdin=True) as process:
        await process.write(b"hello")
        await process.flush()
        await process.end()
        assert [item async for item in process.output()] == [("stdout", b"hello")]
        assert await process.wait() == Exit(0)
        assert process.pid == 7


async def test_writing_to_what_reads_nothing_costs_the_output_nothing(hw: hawse.Client) -> None:
    async with hw.sandbox().processes.start(["print", "out"]) as process:
        with pytest.raises(HawseError, match="forbidden"):
            await process.write(b"x")
        assert [item async for item in process.output()] == [("stdout", b"out")]


async def test_two_tasks_read_the_two_streams(hw: hawse.Client) -> None:
    async def read(stream: object) -> bytes:
        return b"".join([chunk async for chunk in stream])  # type: ignore[attr-defined]

    async with hw.sandbox().processes.start(["print", "out", "err"]) as process, asyncio.TaskGroup() as group:
        out, err = group.create_task(read(process.stdout)), group.create_task(read(process.stderr))
    assert (out.result(), err.result()) == (b"out", b"err")


async def test_output_that_was_not_read_during_a_wait_can_be_read_after_it(hw: hawse.Client) -> None:
    async with hw.sandbox().processes.start(["flood", "1000000"]) as process:
        first = await anext(process.stdout)
        assert await process.wait() == Exit(0)
        rest = b"".join([chunk async for chunk in process.stdout])
        assert first + rest == bytes(range(256)) * (1_000_000 // 256)
        assert b"".join([chunk async for chunk in process.stderr]) == b"e" * 1000


async def test_output_that_is_no_longer_kept_after_a_wait_is_an_error_once(
    hw: hawse.Client, server: FakeServer
) -> None:
    async with hw.sandbox().processes.start(["flood", "1000000"], id="p") as process:
        assert await process.wait() == Exit(0)
        server.processes.get("p").stdout.journal.start = 1024
        output = process.stdout
        with pytest.raises(TruncatedError) as caught:
            await anext(output)
        assert caught.value.missing == 1024
        rest = b"".join([chunk async for chunk in output])
        assert rest == (bytes(range(256)) * (1_000_000 // 256))[1024:]


async def test_output_of_a_process_without_a_record_is_an_error_once(hw: hawse.Client, server: FakeServer) -> None:
    async with hw.sandbox().processes.start(["flood", "1000000"], id="p") as process:
        assert await process.wait() == Exit(0)
        server.processes.drop(server.processes.get("p"))
        output = process.stdout
        with pytest.raises(TruncatedError) as caught:
            await anext(output)
        rest = b"".join([chunk async for chunk in output])
        assert caught.value.missing + len(rest) == 1_000_000 // 256 * 256


async def test_leaving_the_block_kills_what_still_runs(hw: hawse.Client, server: FakeServer) -> None:
    async with hw.sandbox().processes.start(["hang"], id="h"):
        pass
    assert server.processes.get("h").exit == KILLED


async def test_leaving_the_block_leaves_alone_what_was_detached(hw: hawse.Client, server: FakeServer) -> None:
    async with hw.sandbox().processes.start(["hang"], id="h") as process:
        process.detach()
    assert server.processes.get("h").exit is None
    again = await hw.sandbox().processes.attach("h", instance=process.instance)
    assert await again.kill() == Exit(None, "SIGKILL")
    assert await again.wait() == Exit(None, "SIGKILL")


async def test_what_was_started_and_could_not_be_attached_to_is_killed(hw: hawse.Client, server: FakeServer) -> None:
    server.fail["process.attach"] = [HawseError("limit_exceeded")]
    with pytest.raises(HawseError, match="limit_exceeded"):
        async with hw.sandbox().processes.start(["hang"]):
            pytest.fail("not reached")
    (process,) = server.processes
    await server.until(lambda: process.exit)


async def test_signals_and_processes_are_sent_once_although_connections_are_lost(
    cut_hw: hawse.Client, proxy: CuttingProxy, server: FakeServer
) -> None:
    process = await cut_hw.sandbox().processes.start(["cat"], stdin=True)
    for number in range(20):
        await process.write(b"%d " % number)
        proxy.cut()
        await process.signal("INT")
    await process.end()
    assert b"".join([data async for _, data in process.output()]) == b"".join(b"%d " % n for n in range(20))
    assert (await process.wait()).ok
    (started,) = server.launcher.started
    assert started.signals == [signal.SIGINT] * 20
    assert proxy.cuts >= 20


async def test_a_handle_of_an_earlier_process_is_stale(hw: hawse.Client) -> None:
    process = await hw.sandbox().processes.start(["hang"], id="h")
    with pytest.raises(HawseError, match="stale_handle"):
        await hw.sandbox().processes.attach("h", instance="another")
    await process.kill()
