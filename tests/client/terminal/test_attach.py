"""A terminal's viewer, without a socket: starts, resumes, snapshots, reseeds, sizes."""

from typing import Any

import pytest

from hawse.api.people import ViewerProfile
from hawse.api.terminals import TerminalAttach
from hawse.api.types import Exit
from hawse.client.base.options import Options
from hawse.client.base.results import Answers, Attached, Live, Output, Resized, Snapshot, TerminalEvent, WaitingChanged
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.receive_buffer import BufferedChunk
from hawse.client.terminal.attach import LANE, TerminalAttachCall
from hawse.wire import HawseError, Kind, RemoteProtocolError
from tests.support.client import MemoryConnection
from tests.support.examples import OPENED

OUT, SCREEN = Kind.OUTPUT, Kind.SCREEN


class View:
    def __init__(self, since: int | None = None, *, read_only: bool = False, window: int = 10_000) -> None:
        self.calls = CallTable(Options(dice=lambda: 0.0))
        params = TerminalAttach(id="main", read_only=read_only or None, viewer=ViewerProfile(key="k"))
        self.call = TerminalAttachCall(params, sandbox="local", since=since, window=window)
        self.connection = MemoryConnection(self.calls)
        self.calls.submit(self.call)
        self.connection.pump()

    def reconnect(self) -> dict[str, Any]:
        self.calls.disconnected()
        self.connection = MemoryConnection(self.calls)
        return dict(self.connection.params)

    def opened(self, start_at: str, start: int, **more: Any) -> None:
        value = OPENED | {"id": "main", "instance": "i1", "start_at": start_at, "from": start}
        self.connection.event("opened", {**value, **more})

    async def taken(self) -> list[TerminalEvent]:
        """The items that a reader would get now."""
        self.call.receive_buffer.put(LANE, "stop")
        items: list[Any] = []
        while (item := (await self.call.receive_buffer.get())[1]) != "stop":
            items.append(Output(item.offset, bytes(item.data)) if isinstance(item, BufferedChunk) else item)
        return items


async def test_from_the_start() -> None:
    view = View()
    assert view.call.input_stream is not None
    assert view.connection.params == {
        "id": "main",
        "input": view.call.input_stream.id,
        "viewer": {"key": view.call.viewer_key},
    }
    view.opened("start", 0)
    view.connection.data(OUT, 0, b"hello")
    assert not view.call.live
    view.connection.event("live", {"offset": 5})
    assert view.call.live
    assert await view.taken() == [Attached("start", 0, 80, 24), Output(0, b"hello"), Live(5)]


async def test_a_resume_asks_for_the_next_byte_of_the_same_instance() -> None:
    view = View()
    view.opened("start", 0)
    view.connection.data(OUT, 0, b"hello")
    params = view.reconnect()
    assert (params["since"], params["instance"]) == (5, "i1")
    view.opened("resume", 5)
    view.connection.data(OUT, 5, b" world")
    view.connection.event("live", {"offset": 11})
    assert await view.taken() == [
        Attached("start", 0, 80, 24),
        Output(0, b"hello"),
        Attached("resume", 5, 80, 24),
        Output(5, b" world"),
        Live(11),
    ]


async def test_a_viewer_begins_at_the_offset_that_it_is_given() -> None:
    view = View(since=100)
    assert view.connection.params["since"] == 100
    view.opened("resume", 100)
    view.connection.data(OUT, 100, b"x")
    assert (await view.taken())[-1] == Output(100, b"x")


async def test_a_snapshot_is_one_item_and_output_follows_from_its_offset() -> None:
    view = View()
    view.opened("snapshot", 900, screen=6)
    view.connection.data(SCREEN, 0, b"pai")
    view.connection.data(SCREEN, 3, b"nt!")
    view.connection.data(OUT, 900, b"x")
    assert await view.taken() == [
        Attached("snapshot", 900, 80, 24),
        Snapshot(900, b"paint!", 80, 24),
        Output(900, b"x"),
    ]


async def test_a_snapshot_larger_than_the_window_arrives() -> None:
    view = View(window=1000)
    view.opened("snapshot", 0, screen=5000)
    for offset in range(0, 5000, 500):
        view.connection.data(SCREEN, offset, bytes(500))
    assert isinstance((await view.taken())[-1], Snapshot)


async def test_a_connection_lost_during_a_snapshot_resumes_from_before_it() -> None:
    view = View()
    view.opened("start", 0)
    view.connection.data(OUT, 0, b"hello")
    view.connection.event("reseed", {"from": 900, "screen": 6, "cols": 80, "rows": 24})
    view.connection.data(SCREEN, 0, b"pai")
    assert view.reconnect()["since"] == 5
    view.opened("snapshot", 950, screen=3)
    view.connection.data(SCREEN, 0, b"new")
    assert [item for item in await view.taken() if isinstance(item, Snapshot)] == [Snapshot(950, b"new", 80, 24)]


async def test_a_viewer_that_fell_behind_is_reseeded() -> None:
    view = View()
    view.opened("start", 0)
    view.connection.data(OUT, 0, b"hello")
    view.connection.event("live", {"offset": 5})
    await view.taken()
    view.connection.event("reseed", {"from": 900, "screen": 2, "cols": 100, "rows": 30})
    assert not view.call.live
    view.connection.data(SCREEN, 0, b"ok")
    view.connection.data(OUT, 900, b"x")
    view.connection.event("live", {"offset": 901})
    assert await view.taken() == [Snapshot(900, b"ok", 100, 30), Output(900, b"x"), Live(901)]
    assert view.reconnect()["since"] == 901


async def test_an_unread_snapshot_is_replaced_by_the_next() -> None:
    view = View()
    for attempt in range(100):
        view.opened("snapshot", attempt, screen=3)
        view.connection.data(SCREEN, 0, b"%03d" % attempt)
        view.reconnect()
    assert [item for item in await view.taken() if isinstance(item, Snapshot)] == [Snapshot(99, b"099", 80, 24)]


async def test_reconnecting_without_a_reader_takes_no_more_memory() -> None:
    view = View()
    view.opened("start", 0)
    for _ in range(100):
        view.reconnect()
        view.opened("resume", 0)
    assert await view.taken() == [Attached("resume", 0, 80, 24)]


async def test_a_size_change_is_reported_once_at_its_offset() -> None:
    view = View()
    view.opened("start", 0)
    view.connection.data(OUT, 0, b"ab")
    view.connection.event("resized", {"cols": 100, "rows": 30, "offset": 2})
    view.connection.data(OUT, 2, b"cd")
    await view.taken()
    view.reconnect()
    view.opened("resume", 4, cols=120, rows=40)
    view.connection.event("resized", {"cols": 120, "rows": 40, "offset": 4})
    assert await view.taken() == [Attached("resume", 4, 120, 40), Resized(4, 120, 40)]


async def test_a_change_of_the_viewer_that_answers_queries_is_reported() -> None:
    view = View()
    view.opened("start", 0, answers=True)
    view.connection.event("answers", {"answers": False})
    view.connection.event("answers", {"answers": False})
    assert await view.taken() == [Attached("start", 0, 80, 24), Answers(True), Answers(False)]
    assert not view.call.answers


async def test_a_change_of_the_waiting_state_is_reported_once() -> None:
    view = View()
    view.opened("start", 0, waiting={"kind": "no"})
    asked = {"kind": "line", "prompt": "Name?", "since": 1.5}
    view.connection.event("waiting", asked)
    view.reconnect()
    view.opened("resume", 0, waiting=asked)
    view.reconnect()
    view.opened("resume", 0, waiting={"kind": "no", "idle_shell": True})
    changes = [item.waiting for item in await view.taken() if isinstance(item, WaitingChanged)]
    assert [(change.kind, change.prompt, change.idle_shell) for change in changes] == [
        ("line", "Name?", False),
        ("no", None, True),
    ]


async def test_the_exit_comes_after_the_last_byte() -> None:
    view = View()
    view.opened("start", 0)
    view.connection.data(OUT, 0, b"bye")
    view.connection.event("exit", {"code": 3})
    view.connection.result({"exit": {"code": 3}, "offset": 3})
    assert view.call.done.result() == Exit(3)
    assert (await view.call.receive_buffer.get())[1] == Attached("start", 0, 80, 24)


async def test_another_terminal_of_that_id_is_an_error() -> None:
    view = View()
    view.opened("start", 0)
    view.reconnect()
    view.connection.error(HawseError("stale_handle"))
    with pytest.raises(HawseError, match="stale_handle"):
        await view.call.done


async def test_typing_is_resumed_with_the_same_id() -> None:
    view = View()
    assert view.call.input_stream
    view.opened("start", 0)
    await view.call.input_stream.write(b"ls -l\n")
    view.connection.pump()
    assert view.reconnect()["input"] == view.call.input_stream.id
    view.opened("resume", 0, input_offset=3)
    assert view.connection.inputs() == [(3, b"-l\n")]


async def test_a_read_only_viewer_names_no_input() -> None:
    assert "input" not in View(read_only=True).connection.params


async def wrong_instance(view: View) -> None:
    view.opened("start", 0)
    view.reconnect()
    view.opened("resume", 0, instance="i2")


async def wrong_start(view: View) -> None:
    view.opened("start", 7)


async def gap(view: View) -> None:
    view.opened("start", 0)
    view.connection.data(OUT, 1, b"x")


async def output_within_a_snapshot(view: View) -> None:
    view.opened("snapshot", 5, screen=3)
    view.connection.data(OUT, 5, b"x")


async def screen_without_a_snapshot(view: View) -> None:
    view.opened("start", 0)
    view.connection.data(SCREEN, 0, b"x")


async def end_elsewhere(view: View) -> None:
    view.opened("start", 0)
    view.connection.result({"exit": {"code": 0}, "offset": 9})


@pytest.mark.parametrize(
    "breach",
    [wrong_instance, wrong_start, gap, output_within_a_snapshot, screen_without_a_snapshot, end_elsewhere],
    ids=lambda breach: breach.__name__,
)
async def test_what_the_protocol_rules_out_is_the_servers_error(breach: Any) -> None:
    with pytest.raises(RemoteProtocolError):
        await breach(View())
