"""Listings: the same entries as `os.walk`, of any size, with any names; an error is reported for its entry."""

import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from hawse.api.files import FileList
from hawse_runtime.files.listing import BATCH, listing
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.rpc.generator_stream import StreamEvent
from tests.support.runtime import Client, Served, eventually, no_fd_leaked
from tests.support.trees import plant, seen, trees


async def entries(client: Client, **params: Any) -> dict[str, Any]:
    call = client.call("file.list", params)
    result = await call.result()
    listed = [entry for event in call.events if event.name == "entries" for entry in event.value["entries"]]
    assert result["entries"] == len(listed)
    return {entry["path"]: entry for entry in listed}


async def test_a_directory_is_listed_with_the_attributes_of_its_entries(client: Client, served: Served) -> None:
    (served.workspace / "f").write_text("hello")
    (served.workspace / "link").symlink_to("f")
    (served.workspace / "d/e").mkdir(parents=True)
    found = await entries(client, path=".")
    assert set(found) == {"f", "link", "d"}
    assert (found["f"]["type"], found["f"]["size"], found["f"]["uid"]) == ("file", 5, os.getuid())
    assert (found["link"]["type"], found["link"]["target"]) == ("symlink", "f")
    assert found["d"]["type"] == "directory"


@given(trees)
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_every_tree_with_every_name_is_listed(tmp_path_factory: pytest.TempPathFactory, tree: Any) -> None:
    folder = tmp_path_factory.mktemp("any")
    async with Served(folder) as served, served.client() as client:
        plant(served.workspace / "t", tree)
        found = await entries(client, path="t", recursive=True)
        for path, entry in found.items():  # a listed path can be used as a parameter
            again = await client.ask("file.stat", path=f"t/{path}", follow=False)
            assert again["mode"] == entry["mode"]
        assert len(found) == len(seen(served.workspace / "t"))


async def test_entries_are_filtered_by_globs(client: Client, served: Served) -> None:
    for name in ("a.py", ".hidden/b.py", "src/c.py", "src/deep/d.py", "node_modules/x/e.py", "src/f.txt"):
        path = served.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    found = await entries(client, path=".", recursive=True, include=["*.py"], exclude=["node_modules"])
    assert set(found) == {"a.py", ".hidden/b.py", "src/c.py", "src/deep/d.py"}
    found = await entries(client, path=".", recursive=True, hidden=False, include=["src/**/*.py", "*.txt"])
    assert set(found) == {"src/c.py", "src/deep/d.py", "src/f.txt"}
    found = await entries(client, path=".", recursive=True, depth=2, hidden=False)
    assert "src/c.py" in found
    assert "src/deep/d.py" not in found
    for glob in ("..", "\0"):
        assert (await client.refused("file.list", path=".", include=[glob])).code == "invalid_params"


async def test_a_directory_that_cannot_be_entered_is_reported_and_the_listing_continues(
    client: Client, served: Served
) -> None:
    os.makedirs(served.workspace / "/".join(["deep"] * 140))
    (served.workspace / "z").write_text("")
    call = client.call("file.list", {"path": ".", "recursive": True})
    result = await call.result()
    failed = [event.value for event in call.events if event.name == "failed"]
    assert [(len(value["path"].split("/")), value["code"]) for value in failed] == [(129, "too_large")]
    assert result == {"entries": 130, "failed": 1}


async def test_a_path_that_is_not_a_directory_is_a_typed_error(client: Client, served: Served) -> None:
    (served.workspace / "f").write_text("")
    os.mkfifo(served.workspace / "fifo")
    for path, code in (("f", "not_directory"), ("fifo", "not_directory"), ("none", "not_found")):
        assert (await client.refused("file.list", path=path)).code == code


def test_20_000_entries_cost_no_more_than_a_batch(tmp_path: Path) -> None:
    for number in range(20_000):
        os.mknod(tmp_path / f"{number:06}")
    with no_fd_leaked():
        work = listing(RootedPath(str(tmp_path)), FileList(path="."))
        tracemalloc.start()
        count, result = 0, None
        while result is None:
            try:
                item = next(work)
            except StopIteration as end:
                result = end.value
            else:
                count += len(item.value.entries) if isinstance(item, StreamEvent) else 0
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert count == result.entries == 20_000
    assert peak < 16 * BATCH  # all entries at once need 65 of them


async def test_a_client_that_does_not_read_or_disconnects_leaves_no_descriptor_open(served: Served) -> None:
    for number in range(3000):
        os.mknod(served.workspace / f"{number:06}")
    before = served.runtime.info()["open_fds"]
    async with served.client(window=10) as client:
        call = client.call("file.list", {"path": "."}, generous=False)
        await call.until(lambda: call.events)
        assert len(call.events) == 1
    async with served.client() as client:
        assert len(await entries(client, path=".")) == 3000
    await eventually(lambda: served.runtime.info()["open_fds"] <= before)  # a thread closes them, without an event
