"""`watch.start` reports every change after `watching`, and asks for a rescan where it cannot."""

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.runtime import Channel, Client, Served, no_fd_leaked

QUEUE = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())


@pytest.fixture
def root(served: Served) -> Path:
    root = served.workspace / "root"
    root.mkdir()
    return root


def changes_of(stream: Channel, root: Path) -> list[tuple[str, str]]:
    """All changes that came, one after the other."""
    changes = [change for event in stream.events if event.name == "changes" for change in event.value["changes"]]
    return [(change["type"], os.path.relpath(change["path"], root)) for change in changes]


async def until_changed(stream: Channel, root: Path, *paths: str) -> None:
    await stream.until(lambda: set(paths) <= {path for _, path in changes_of(stream, root)})


def write_line(path: Path) -> None:
    with open(path, "a") as file:
        file.write("line\n")


async def watching(client: Client, **params: Any) -> Channel:
    stream = client.call("watch.start", {"path": "root", **params})
    await stream.event("watching")
    return stream


async def test_a_file_made_right_after_watching_is_always_reported(client: Client, served: Served) -> None:
    async def once(name: str) -> None:
        root = served.workspace / name
        root.mkdir()
        stream = client.call("watch.start", {"path": name})
        watch = await stream.event("watching")
        (root / "file").touch()
        event = await stream.event("changes")
        assert [(change["type"], change["path"]) for change in event["changes"]] == [("added", str(root / "file"))]
        await client.ask("watch.stop", id=watch["id"])

    for round in range(10):
        await asyncio.gather(*(once(f"{round}-{number}") for number in range(30)))


async def test_in_a_large_tree_a_file_made_right_after_watching_is_reported(client: Client, root: Path) -> None:
    places = [root / f"{outer}/{inner}" for outer in range(20) for inner in range(20)]
    for place in places:
        place.mkdir(parents=True)
    stream = await watching(client)
    for place in places:
        (place / "file").touch()
    await stream.until(lambda: len(changes_of(stream, root)) >= len(places))
    assert set(changes_of(stream, root)) == {("added", f"{place.relative_to(root)}/file") for place in places}


async def test_a_second_reader_of_a_live_watch_is_watching_at_once_and_from_now_on(client: Client, root: Path) -> None:
    first = await watching(client)
    (root / "before").touch()
    await first.event("changes")
    second = await watching(client)
    (root / "after").touch()
    await first.event("changes", 2)
    await second.event("changes")
    assert changes_of(second, root) == [("added", "after")]


async def test_rapid_changes_of_one_file_are_merged(client: Client, root: Path) -> None:
    stream = await watching(client)
    for _ in range(1000):
        write_line(root / "log")
    (root / "end").touch()
    await stream.until(lambda: ("added", "end") in changes_of(stream, root))
    assert changes_of(stream, root)[0] == ("added", "log")
    assert len(changes_of(stream, root)) < 20


async def test_a_replaced_file_is_reported_under_its_name(client: Client, root: Path) -> None:
    (root / "config").write_text("1")
    stream = await watching(client)
    (root / "config.tmp").write_text("2")
    (root / "config.tmp").rename(root / "config")
    await stream.until(lambda: len(changes_of(stream, root)) == 2)
    assert sorted(changes_of(stream, root)) == [("added", "config"), ("deleted", "config.tmp")]


async def test_globs_include_and_exclude_at_once(client: Client, root: Path) -> None:
    stream = await watching(client, include=["src/**/*.py", "?.toml"], exclude=["**/test_*", "gen"])
    for name in (
        "src/a.py",
        "src/x/b.py",
        "src/test_a.py",
        "src/gen/c.py",
        "src/d.js",
        "a.toml",
        "ab.toml",
        "src/z.py",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    await stream.until(lambda: ("added", "src/z.py") in changes_of(stream, root))
    assert {path for _, path in changes_of(stream, root)} == {"src/a.py", "src/x/b.py", "a.toml", "src/z.py"}


async def test_files_of_git_are_left_out_unless_exclude_is_given(client: Client, root: Path) -> None:
    (root / ".git").mkdir()
    stream, all_of_it = await watching(client), await watching(client, exclude=[])
    (root / ".git/HEAD").touch()
    (root / ".gitignore").touch()
    await stream.event("changes")
    await all_of_it.until(lambda: len(changes_of(all_of_it, root)) == 2)
    assert changes_of(stream, root) == [("added", ".gitignore")]


async def test_who_does_not_read_gets_a_rescan_and_then_what_follows(
    served: Served, client: Client, root: Path
) -> None:
    async with served.client(window=1) as slow:
        stream = slow.call("watch.start", {"path": "root"}, generous=False)
        await stream.event("watching")  # it has used up the window
        other = await watching(client)
        for batch in range(6):
            for number in range(2000):
                (root / f"{batch}-{number}").touch()
            await until_changed(other, root, f"{batch}-1999")
        assert len(stream.events) == 1
        stream.grant(1 << 20)
        assert (await stream.event("rescan"))["reason"] == "behind"
        (root / "later").touch()
        await stream.event("changes")
        assert changes_of(stream, root) == [("added", "later")]
        await other.until(lambda: len(changes_of(other, root)) == 12_001)


async def test_a_kernel_overflow_is_reported_and_nothing_is_missed_after_it(client: Client, root: Path) -> None:
    with no_fd_leaked():
        stream = await watching(client)
        for number in range(QUEUE + 10):  # the event loop is ours as long as this lasts
            (root / str(number)).touch()
        (root / "unseen").mkdir()
        rescan = await stream.event("rescan")
        assert rescan["reason"] == "overflow"
        (root / "unseen/file").touch()
        await stream.until(lambda: ("added", "unseen/file") in changes_of(stream, root))
        state = await client.ask("watch.changes", path="root", since=rescan["version"])
        assert [change["path"] for change in state["changes"]] == [str(root / "unseen/file")]
        await client.ask("watch.stop", id=state["id"])
        await stream.result()


async def test_a_directory_that_disappears_ends_its_watch_after_the_last_changes(client: Client, root: Path) -> None:
    with no_fd_leaked():
        (root / "a").touch()
        stream = await watching(client)
        shutil.rmtree(root)
        assert (await stream.refusal()).code == "not_found"
        assert changes_of(stream, root) == [("deleted", "a")]
        os.mkdir(root)
        again = await watching(client)
        await client.ask("watch.stop", id=(await again.event("watching"))["id"])
        await again.result()


async def test_input_is_a_mistake(client: Client, root: Path) -> None:
    stream = await watching(client)
    stream.send(b"x")
    assert (await stream.refusal()).code == "protocol_error"


async def test_a_watch_that_is_cancelled_before_it_is_live_is_no_trouble(client: Client, root: Path) -> None:
    for _ in range(20):
        stream = client.call("watch.start", {"path": "root"})
        stream.cancel()
        assert (await stream.refusal()).code == "cancelled"
    stream = await watching(client)
    (root / "x").touch()
    await stream.event("changes")


async def test_every_change_is_reported_to_several_readers_under_load(client: Client, root: Path) -> None:
    streams = [await watching(client) for _ in range(3)]

    async def work(worker: int) -> None:
        for number in range(50):
            place = root / f"{worker}/{number}"
            place.mkdir(parents=True)
            (place / "file").touch()
            await asyncio.sleep(0)

    await asyncio.gather(*(work(worker) for worker in range(8)))
    expected = {f"{worker}/{number}/file" for worker in range(8) for number in range(50)}
    for stream in streams:
        await until_changed(stream, root, *expected)
