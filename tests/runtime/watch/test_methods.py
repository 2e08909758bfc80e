"""The methods `watch.*`: who shares a watch, what a version is, and what is left of a watch."""

import asyncio
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from hawse_runtime.settings import RuntimeLimits
from hawse_runtime.watch.methods import WatchLimits
from tests.support.principals import VIEWER
from tests.support.runtime import Client, Served, eventually, no_fd_leaked, open_fds
from tests.support.waiting import tasks_ended


@pytest.fixture
def root(served: Served) -> Path:
    root = served.workspace / "root"
    root.mkdir()
    return root


async def version(client: Client, **params: Any) -> str:
    return str((await client.ask("watch.changes", path="root", **params))["version"])


def queues() -> int:
    """How many inotify queues this process has."""
    links = (Path("/proc/self/fd") / name for name in open_fds())
    return sum(os.readlink(link) == "anon_inode:inotify" for link in links if os.path.lexists(link))


def names(root: Path, state: Any) -> list[tuple[str, str]]:
    return [(change["type"], str(Path(change["path"]).relative_to(root))) for change in state["changes"]]


async def test_changes_made_before_the_call_are_in_its_result(client: Client, root: Path) -> None:
    state = await client.ask("watch.changes", path="root")
    assert (state["status"], state["changes"]) == ("unchanged", [])
    for number in range(100):
        (root / f"{number}").touch()
        state = await client.ask("watch.changes", path="root", since=state["version"])
        assert (state["status"], names(root, state)) == ("changed", [("added", f"{number}")])
    assert (await client.ask("watch.changes", path="root", since=state["version"]))["status"] == "unchanged"


async def test_versions_survive_the_line(served: Served, root: Path) -> None:
    async with served.client() as first:
        since = await version(first)
    (root / "meanwhile").touch()
    async with served.client() as second:
        state = await second.ask("watch.changes", path="root", since=since)
        assert names(root, state) == [("added", "meanwhile")]
        stream = second.call("watch.start", {"path": "root", "since": since})
        assert names(root, await stream.event("changes")) == [("added", "meanwhile")]


async def test_many_changes_come_in_parts(client: Client, root: Path) -> None:
    since = await version(client)
    for number in range(2500):
        (root / str(number)).touch()
    found = []
    more = True
    while more:
        state = await client.ask("watch.changes", path="root", since=since)
        found += names(root, state)
        since, more = state["version"], state["more"]
    assert sorted(found) == sorted(("added", str(number)) for number in range(2500))


async def test_equal_requests_share_a_watch_and_different_ones_do_not(
    served: Served, client: Client, root: Path
) -> None:
    with no_fd_leaked():
        streams = [
            client.call("watch.start", params)
            for params in (
                {"path": "root"},
                {"path": str(root)},
                {"path": "root", "exclude": [".git", ".hawse", ".hawse-*"]},
                {"path": "root", "recursive": False},
                {"path": "root", "include": ["*.py"]},
            )
        ]
        ids = [(await stream.event("watching"))["id"] for stream in streams]
        assert ids[0] == ids[1] == ids[2]
        assert len(set(ids)) == 3
        (root / "a.py").touch()
        for stream in streams:
            assert names(root, await stream.event("changes")) == [("added", "a.py")]
        for watch_id in set(ids):
            assert await client.ask("watch.stop", id=watch_id) == {}
        for stream in streams:
            assert await stream.result() == {"reason": "stopped"}
    assert await client.ask("watch.stop", id=ids[0]) == {}
    assert await client.ask("watch.stop", id="never") == {}


async def test_a_version_of_something_else_is_refused(client: Client, root: Path) -> None:
    since = await version(client)
    runtime, mark, number, cursor = since.split("-")
    for bad in (
        "garbage",
        since + "0",
        f"{runtime}-{mark}-{number}-7",
        since + "\n",
        f"{runtime}-{mark}-{int(number) + 100}-{cursor}",
        await version(client, recursive=False),
    ):
        for method in ("watch.changes", "watch.start"):
            error = await client.refused(method, path="root", since=bad)
            assert (error.code, error.details) == ("invalid_params", {"path": "$.since"}), bad
    error = await client.refused("watch.changes", path="root", since="")
    assert error.code == "invalid_params"


async def test_a_version_of_an_earlier_runtime_or_watch_asks_for_a_rescan(client: Client, root: Path) -> None:
    since = await version(client)
    earlier = re.sub("^[0-9a-f]+", "0123456789abcdef", since)
    state = await client.ask("watch.changes", path="root", since=earlier)
    assert (state["status"], state["reason"], state["version"]) == ("rescan", "restarted", since)
    await client.ask("watch.stop", id=state["id"])
    state = await client.ask("watch.changes", path="root", since=since)
    assert (state["status"], state["reason"]) == ("rescan", "expired")
    stream = client.call("watch.start", {"path": "root", "since": since})
    assert (await stream.event("rescan"))["reason"] == "expired"
    (root / "new").touch()
    assert names(root, await stream.event("changes")) == [("added", "new")]
    state = await client.ask("watch.changes", path="root", since=state["version"])
    assert names(root, state) == [("added", "new")]


@pytest.mark.parametrize("limits", [RuntimeLimits(watches=WatchLimits(unread_age=0.01))])
async def test_a_watch_without_readers_ends_after_a_while(served: Served, client: Client, root: Path) -> None:
    with no_fd_leaked():
        stream = client.call("watch.start", {"path": "root"})
        since = (await stream.event("watching"))["version"]
        stream.cancel()
        assert (await stream.refusal()).code == "cancelled"
        await eventually(lambda: not len(served.runtime.watches) and not queues())  # a timer ends it, without an event
    state = await client.ask("watch.changes", path="root", since=since)
    assert state["reason"] == "expired"


@pytest.mark.parametrize("limits", [RuntimeLimits(watches=WatchLimits(count=2))])
async def test_at_the_limit_a_watch_without_readers_makes_room(client: Client, served: Served) -> None:
    for name in "abcd":
        (served.workspace / name).mkdir()
    first = client.call("watch.start", {"path": "a"})
    await first.event("watching")
    await client.ask("watch.changes", path="b")
    second = client.call("watch.start", {"path": "c"})
    await second.event("watching")
    assert (await client.refused("watch.start", path="d")).code == "limit_exceeded"
    assert (await client.refused("watch.changes", path="d")).code == "limit_exceeded"
    (served.workspace / "a/file").touch()
    await first.event("changes")


async def test_a_path_that_is_not_a_directory_is_refused(client: Client, root: Path, served: Served) -> None:
    (root / "file").touch()
    for path, code in (("none", "not_found"), ("root/file", "not_directory"), ("a\0b", "invalid_params")):
        assert (await client.refused("watch.start", path=path)).code == code
        assert (await client.refused("watch.changes", path=path)).code == code
    assert (await client.refused("watch.start", path="root", include=["../*"])).code == "invalid_params"
    assert len(served.runtime.watches) == 0


async def test_changes_of_a_deleted_directory_are_reported_as_an_error(client: Client, root: Path) -> None:
    since = await version(client)
    shutil.rmtree(root)
    assert (await client.refused("watch.changes", path="root", since=since)).code == "not_found"
    os.mkdir(root)
    assert (await client.ask("watch.changes", path="root", since=since))["reason"] == "expired"


async def test_a_viewer_may_not_watch(client: Client, root: Path) -> None:
    for method in ("watch.start", "watch.changes"):
        assert (await client.call(method, {"path": "root"}, principal=VIEWER).refusal()).code == "forbidden"


async def test_lines_that_are_cut_at_every_step_leave_nothing(served: Served, root: Path) -> None:
    async with served.client() as observer:
        await observer.info()
        before = asyncio.all_tasks()
        with no_fd_leaked():
            for step in range(30):
                client = await served.client()
                stream = client.call("watch.start", {"path": "root", "include": [f"{step % 3}"]})
                if step % 2:
                    await stream.event("watching")
                    (root / f"{step % 3}").touch()
                if step % 4 == 3:
                    await stream.event("changes")
                await client.cut()
            assert len(served.runtime.watches) == 3
            await served.runtime.watches.close()
            await tasks_ended(before)
            assert not queues()
