"""The client's watch: without a socket, and against a real sandbox whose connection is lost."""

import asyncio
import os
from pathlib import Path

import pytest

from hawse.api.watches import WatchStart
from hawse.client import HawseError, Options, WatchedChange, WatchRescan
from hawse.client.calls.call_table import CallTable
from hawse.client.watch import Watch, WatchCall
from tests.support.client import MemoryConnection
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack
from tests.support.sync_bridge import Connect
from tests.support.waiting import Changes

WATCHING = {"id": "w-1", "path": "/w", "version": "v0"}


def change(name: str) -> dict[str, object]:
    return {"type": "added", "path": f"/w/{name}", "directory": False}


async def test_a_reconnect_continues_after_the_last_event() -> None:
    calls = CallTable(Options(dice=lambda: 0.0))
    connection = MemoryConnection(calls)
    call = WatchCall(WatchStart(path="w"), sandbox="local", window=10_000)
    watch = Watch(calls, call)
    async with asyncio.TaskGroup() as tasks:
        entering = tasks.create_task(watch.__aenter__())
        await connection.until_called()
        assert (connection.call.method, connection.params) == ("watch.start", {"path": "w"})
        assert not entering.done()
        connection.event("watching", WATCHING)
    assert (watch.id, watch.path, watch.version) == ("w-1", "/w", "v0")
    connection.event("changes", {"version": "v2", "changes": [change("a"), change("b")]})
    calls.disconnected()
    again = MemoryConnection(calls)
    assert again.params == {"path": "w", "since": "v2"}
    again.event("watching", WATCHING | {"version": "v2"})
    again.event("rescan", {"version": "v9", "reason": "behind"})
    reader = aiter(watch)
    assert await anext(reader) == WatchedChange("added", "/w/a")
    assert watch.version == "v0"  # what was not taken yet comes after it
    assert await anext(reader) == WatchedChange("added", "/w/b")
    assert watch.version == "v2"
    assert await anext(reader) == WatchRescan(version="v9", reason="behind")
    again.error(HawseError("not_found", "gone"))
    with pytest.raises(HawseError, match="gone"):
        await anext(reader)


async def test_unread_changes_are_not_granted() -> None:
    calls = CallTable(Options(dice=lambda: 0.0))
    connection = MemoryConnection(calls)
    call = WatchCall(WatchStart(path="w", since="v0"), sandbox="local", window=1000)
    calls.submit(call)
    connection.pump()
    connection.event("watching", WATCHING)
    connection.event("changes", {"version": "v1", "changes": [change(str(n)) for n in range(20)]})
    assert connection.server.window(connection.call.ch) <= 0
    for _ in range(20):
        await call.receive_buffer.get()
    connection.pump()
    assert connection.server.window(connection.call.ch) > 0
    calls.abandon(call)


async def test_no_change_is_lost_or_repeated_over_lost_connections(tmp_path: Path, connect: Connect) -> None:
    async with (
        Stack(tmp_path / "state") as stack,
        CuttingProxy(stack.port, cut_after=(2000, 6000), cuts_left=12) as proxy,
        connect(proxy.url, token=stack.token, options=Options(dice=lambda: 0.0)) as hw,
    ):
        box = hw.sandbox()
        await box.exec("mkdir w")
        async with box.watches.start("w", include=["*.txt"]) as watch:
            root = Path(watch.path)
            seen: list[str] = []
            progress = Changes()

            async def read() -> None:
                async for change in watch:
                    assert isinstance(change, WatchedChange)
                    assert change.type == "added"
                    seen.append(Path(change.path).name)
                    progress.notify()
                    if change.path.endswith("/end.txt"):
                        return

            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(read())
                for number in range(400):
                    (root / f"{number}.txt").touch()
                    if number % 10 == 0:  # wait for earlier files, so that there are many events, and cuts between them
                        await progress.until(lambda: len(seen) >= number - 20)  # noqa: B023
                (root / "end.txt").touch()
            assert sorted(seen) == sorted([*(f"{number}.txt" for number in range(400)), "end.txt"])
            assert proxy.cuts > 0
            since = watch.version
        (root / "later.txt").touch()
        state = await box.watches.changes("w", include=["*.txt"], since=since)
        assert (state.status, state.changes) == ("changed", [WatchedChange("added", str(root / "later.txt"))])
        async with box.watches.start("w", include=["*.txt"], since=since) as watch:
            assert await anext(aiter(watch)) == WatchedChange("added", str(root / "later.txt"))
            await watch.stop()
            await watch.stop()
            with pytest.raises(StopAsyncIteration):
                await anext(aiter(watch))
        os.makedirs(os.fsencode(root) + b"/\xff/\xfe")
        async with box.watches.start(os.fsencode(root) + b"/\xff", exclude=["\udcfe/x"]) as watch:
            os.close(os.open(os.fsencode(root) + b"/\xff/\xfe/x", os.O_CREAT))
            os.close(os.open(os.fsencode(root) + b"/\xff/\xfe/y", os.O_CREAT))
            assert watch.path == f"{root}/\udcff"
            assert await anext(aiter(watch)) == WatchedChange("added", f"{root}/\udcff/\udcfe/y")
        with pytest.raises(HawseError, match="not_found"):
            async with box.watches.start("nowhere"):
                pass


async def test_a_restarted_runtime_reports_rescan(tmp_path: Path, connect: Connect) -> None:
    async with (
        Stack(tmp_path / "state") as stack,
        connect(stack.base, token=stack.token, options=Options(dice=lambda: 0.0)) as hw,
    ):
        box = hw.sandbox()
        await box.exec("mkdir w")
        async with box.watches.start("w") as watch:
            reader = aiter(watch)
            (Path(watch.path) / "a").touch()
            assert isinstance(await anext(reader), WatchedChange)
            (runtime,) = stack.runtimes()
            runtime.kill()
            rescan = await anext(reader)
            assert isinstance(rescan, WatchRescan)
            assert rescan.reason == "restarted"
            (Path(watch.path) / "b").touch()
            assert await anext(reader) == WatchedChange("added", str(Path(watch.path) / "b"))
