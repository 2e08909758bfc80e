"""Terminals against a server that echoes: typing, reading, and 200 lost connections."""

import asyncio

import pytest

import hawse
from hawse.api.types import Exit
from hawse.client import Options
from hawse.client.base.errors import BusyError, ClientClosedError, TruncatedError
from hawse.client.base.results import Attached, Live, Output, Repaint, Snapshot
from hawse.wire import HawseError, Limits
from tests.support.fake_server import FakeServer
from tests.support.proxy import CuttingProxy
from tests.support.sync_bridge import Connect

CUTS = 200


async def read_until(term: hawse.Terminal, end: bytes) -> bytes:
    got = b""
    async for chunk in term:
        got += chunk
        if got.endswith(end):
            break
    return got


async def test_typed_bytes_are_echoed_and_offset_is_the_end_of_what_was_read(hw: hawse.Client) -> None:
    async with hw.sandbox().terminals.open("main", cols=100, rows=30) as term:
        assert (term.id, term.pid, term.offset) == ("main", 42, None)
        await term.write(b"hello")
        assert await read_until(term, b"o") == b"hello"
        assert term.offset == 5


async def test_leaving_detaches_and_another_handle_continues_at_the_exact_byte(hw: hawse.Client) -> None:
    async with hw.sandbox().terminals.open("main") as term:
        await term.write(b"first ")
        await read_until(term, b" ")
    with pytest.raises(ClientClosedError):
        await anext(term.items())
    async with hw.sandbox().terminals.attach("main", instance=term.instance, since=term.offset) as again:
        await again.write(b"second")
        assert await read_until(again, b"d") == b"second"


async def test_items_come_in_order_and_end_with_the_exit(hw: hawse.Client) -> None:
    async with hw.sandbox().terminals.open("main") as term:
        await term.write(b"x")
        await term.flush()
        assert await term.kill() == Exit(None, "SIGKILL")
        items = [item async for item in term.items()]
        offset = next(item.offset for item in items if isinstance(item, Live))
        assert Output(0, b"x") in items
        assert [item for item in items if not isinstance(item, Output)] == [
            Attached("start", 0, 80, 24),
            Live(offset),
            Exit(None, "SIGKILL"),
        ]
        assert await term.wait() == Exit(None, "SIGKILL")
        with pytest.raises(HawseError, match="exited"):
            await term.write(b"y")


async def test_iterating_over_bytes_yields_a_repaint_for_missing_output(hw: hawse.Client, server: FakeServer) -> None:
    async with hw.sandbox().terminals.open("main"):
        terminal = server.terminals.get("main")
        terminal.write(bytes(5000))
        terminal.journal.start = 4000
    async with hw.sandbox().terminals.attach("main") as term:
        repaint = await anext(aiter(term))
        assert isinstance(repaint, Repaint)
        assert isinstance(repaint.snapshot, Snapshot)
        assert repaint.startswith(b"\x1bcSCREEN@5000 ")
        assert term.offset == 5000


async def test_a_viewer_that_only_looks_cannot_type(hw: hawse.Client) -> None:
    async with hw.sandbox().terminals.open("main", read_only=True) as term:
        with pytest.raises(HawseError, match="forbidden"):
            await term.write(b"x")


async def test_a_terminal_that_has_to_exist_does_not_appear(hw: hawse.Client, server: FakeServer) -> None:
    with pytest.raises(HawseError, match="not_found"):
        async with hw.sandbox().terminals.attach("none"):
            pytest.fail("not reached")
    assert not server.terminals


async def test_a_terminal_may_be_left_without_a_name(hw: hawse.Client, server: FakeServer) -> None:
    async with hw.sandbox().terminals.open() as term:
        assert server.terminals.find(term.id) is not None


async def test_it_is_resized_and_signalled(hw: hawse.Client, server: FakeServer) -> None:
    async with hw.sandbox().terminals.open("main") as term:
        await term.resize(132, 43)
        await term.signal("INT")
    terminal = server.terminals.get("main")
    assert terminal.size == (132, 43)
    assert terminal.signals == ["INT"]


@pytest.mark.async_only(reason="a thread that reads is not always waiting: the other may read first")
async def test_one_stream_has_one_reader(hw: hawse.Client) -> None:
    async with hw.sandbox().terminals.open("main") as term, asyncio.TaskGroup() as group:
        reading = group.create_task(read_until(term, b"!"))
        await term.write(b"a")
        await term.flush()
        with pytest.raises(BusyError):
            async for _ in term.items():
                break
        await term.write(b"!")
    assert reading.result() == b"a!"


async def test_a_reader_that_stops_reading_stops_the_server(hw: hawse.Client, server: FakeServer) -> None:
    async with hw.sandbox().terminals.open("main") as term:
        terminal = server.terminals.get("main")
        terminal.write(bytes(10_000_000))
        for _ in range(20):
            await hw.call("echo")
        (stream,) = terminal.readers
        assert stream.offset <= 64 * 1024
        assert await term.kill() == await term.wait()
        assert sum([len(chunk) async for chunk in term]) == 10_000_000


async def test_lines_are_plain_text_and_lose_nothing_to_other_iterators(hw: hawse.Client, server: FakeServer) -> None:
    async with hw.sandbox().terminals.open("main") as term:
        terminal = server.terminals.get("main")
        terminal.write(b"\x1b[1mone\x1b[0m\r\n\rtw\xc3\xb6\x07\r\nthree\r\nfour")
        lines = term.lines()
        assert [await anext(lines), await anext(lines)] == ["one", "twö"]
        assert term.offset == len(b"\x1b[1mone\x1b[0m\r\n\rtw\xc3\xb6\x07\r\n")
        assert await read_until(term, b"four") == b"three\r\nfour"
        terminal.write(b"\x1b[31mred\r\nend")
        terminal.finish(Exit(0))
        assert [line async for line in term.lines(escapes=True)] == ["\x1b[31mred", "end"]


async def test_lines_report_missing_output(proxy: CuttingProxy, server: FakeServer, connect: Connect) -> None:
    async with (
        connect(proxy.url, options=Options(dice=lambda: 0.0)) as hw,
        hw.sandbox().terminals.open("main") as term,
    ):
        terminal = server.terminals.get("main")
        terminal.write(b"seen\nhalf")
        lines = term.lines()
        assert await anext(lines) == "seen"
        proxy.cut()
        terminal.journal.append(b" lost\n" * 1000)  # while there is no connection
        terminal.journal.start = 6000
        assert await anext(lines) == "half"
        with pytest.raises(TruncatedError) as missing:
            await anext(lines)
        assert missing.value.missing == 6000
        terminal.write(b"after\n")
        assert await anext(term.lines()) == "after"


@pytest.mark.parametrize("seed", range(3))
async def test_200_lost_connections_lose_and_double_nothing_in_either_direction(seed: int, connect: Connect) -> None:
    """Numbered output as fast as it is read, numbered typing as fast as it is taken, cuts at any byte."""
    server = FakeServer()
    server.limits = Limits(payload=4096)
    options = Options(dice=lambda: 0.0, window=8192)
    async with (
        server,
        CuttingProxy(server.port, seed=seed, cut_after=(1, 60_000), cuts_left=CUTS) as proxy,
        connect(proxy.url, options=options) as hw,
        hw.sandbox().terminals.open("main") as term,
        asyncio.TaskGroup() as group,
    ):
        terminal = server.terminals.get("main")
        terminal.echoes = False

        async def type_numbers() -> bytes:
            typed = b""
            while not proxy.spent.is_set():
                word = b"%d," % len(typed)
                await term.write(word)
                typed += word
                if len(typed) % 7 == 0:
                    await term.flush()
            await term.flush()
            terminal.finish(Exit(0))
            return typed

        typing = group.create_task(type_numbers())
        output = bytearray()
        async for item in term.items():
            if isinstance(item, Output):
                assert item.offset == len(output)
                output += item.data
            printed = terminal.journal.end
            if not proxy.spent.is_set() and printed - len(output) < 16_384:
                terminal.write(b"".join(b"%d\n" % (printed + n) for n in range(2000)))
    assert output == terminal.journal.copy(0, terminal.journal.end)
    assert terminal.typed == typing.result()
    assert proxy.cuts == CUTS
    assert len(output) > 500_000
    assert len(typing.result()) > 1000
