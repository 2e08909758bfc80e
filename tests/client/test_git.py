"""The client's git methods: without a socket, and in a real sandbox over connections that are lost."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hawse.api.git import GitClone, GitProgress
from hawse.client import GitAuthor, GitCredentials, HawseError, Options, WatchedChange
from hawse.client.calls.call_table import CallTable
from hawse.client.git import CloneCall, Git
from tests.support.client import MemoryConnection
from tests.support.git_server import GitServer, commit, git
from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack
from tests.support.sync_bridge import Connect

ANN = GitAuthor("Ann", "ann@example.com")
ACCESS = GitCredentials(username="ann", password="secret")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    (tmp_path / "served").mkdir()
    with GitServer(tmp_path / "served", credentials=("ann", "secret")) as server:
        yield server


async def test_a_repeated_clone_is_joined_by_its_key() -> None:
    calls = CallTable(Options(dice=lambda: 0.0))
    connection = MemoryConnection(calls)
    progress: list[GitProgress] = []
    call = CloneCall(GitClone(url="https://h/x"), sandbox="local", on_progress=progress.append)
    calls.submit(call)
    assert (connection.call.method, connection.params) == ("git.clone", {"url": "https://h/x"})
    connection.event("progress", {"phase": "Receiving objects", "percent": 1, "done": 1, "total": 99, "new": True})
    calls.disconnected()
    again = MemoryConnection(calls)
    assert again.call.key == connection.call.key
    again.result({"path": "/x", "commit": "c", "branch": None})
    head = await call.done
    assert (head.path, head.commit, head.branch) == ("/x", "c", None)
    assert [event.percent for event in progress] == [1]


async def test_what_asks_is_repeated_and_what_acts_has_a_key() -> None:
    calls = CallTable(Options(dice=lambda: 0.0))
    connection = MemoryConnection(calls)
    box = Git(calls, "local", window=1 << 20)
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(box.status("r"))
        await connection.until_called()
        assert (connection.call.method, connection.params, connection.call.key) == ("git.status", {"path": "r"}, None)
        connection.result({"branch": "main"})
        assert (await asking).branch == "main"
        acting = tasks.create_task(box.push(credentials=ACCESS))
        await connection.until_called(2)
        assert connection.call.key is not None
        assert connection.params["credentials"] == {"username": "ann", "password": "secret"}
        connection.result({"refs": []})
        assert (await acting).refs == []


async def test_all_git_methods_work_over_lost_connections(tmp_path: Path, server: GitServer, connect: Connect) -> None:
    work = server.create("project", {"a": "1\n", **{f"d/{number}": "x" * 500 for number in range(200)}})
    async with (
        Stack(tmp_path / "state") as stack,
        CuttingProxy(stack.port, cut_after=(1000, 3000), cuts_left=10) as proxy,
        connect(proxy.url, token=stack.token, options=Options(dice=lambda: 0.0)) as hw,
    ):
        box = hw.sandbox()
        progress: list[GitProgress] = []
        head = await box.git.clone(server.url("project"), credentials=ACCESS, depth=1, on_progress=progress.append)
        mine = Path(head.path)
        assert head.branch == "main"
        await box.files.write("project/b", b"2\n")
        assert [entry.path for entry in (await box.git.status("project")).entries] == ["b"]
        await box.git.add(["b"], path="project")
        await box.git.create_branch("topic", path="project")
        assert (await box.git.checkout("topic", path="project")).branch == "topic"
        head = await box.git.commit("two", path="project", author=ANN)
        assert "+2" in (await box.git.diff("project", base="HEAD~1")).text
        reported = (await box.git.log("project", limit=1)).commits
        assert [(one.commit, one.message) for one in reported] == [(head.commit, "two")]
        await box.git.push(path="project", set_upstream=True, credentials=ACCESS)
        assert git(work, "ls-remote", "origin", "topic").split()[0] == head.commit
        await box.git.checkout("main", path="project")
        await box.git.delete_branch("topic", path="project", force=True)
        theirs = commit(work, {"c": "3"})
        git(work, "push", "-q", "origin", "main")
        assert (await box.git.pull(path="project", credentials=ACCESS)).commit == theirs
        names = [branch.name for branch in (await box.git.branches("project")).branches]
        assert names == ["main", "origin/main"]  # a shallow clone is of one branch
        assert git(mine, "status", "--porcelain") == ""
        head = await box.git.clone(server.url("project"), b"caf\xe9", credentials=ACCESS)
        assert head.path == f"{mine.parent}/caf\udce9"
        await box.files.write(b"caf\xe9/\xff", b"new")
        assert [entry.path for entry in (await box.git.status(b"caf\xe9")).entries] == ["\udcff"]
        with pytest.raises(HawseError) as refused:
            await box.git.status("nowhere")
        assert refused.value.details["reason"] == "not_a_repository"


@pytest.mark.async_only(reason="a thread cannot be cancelled")
async def test_a_clone_that_is_cancelled_ends_and_leaves_nothing(
    tmp_path: Path, server: GitServer, connect: Connect
) -> None:
    server.create("project", {"a": "x" * 100_000})
    server.stall = 10
    async with Stack(tmp_path / "state") as stack, connect(stack.base, token=stack.token) as hw:
        box = hw.sandbox()
        folder = Path((await box.exec("pwd", check=True)).text.strip())
        async with box.watches.start(".", exclude=[]) as watch:
            cloning = asyncio.ensure_future(box.git.clone(server.url("project"), credentials=ACCESS))
            await asyncio.to_thread(server.stalled.wait)
            cloning.cancel()
            async for change in watch:  # the last directory of it goes
                assert isinstance(change, WatchedChange)
                if change.type == "deleted" and Path(change.path).parent == folder and ".hawse-" in change.path:
                    break
        assert not {name for name in os.listdir(folder) if "hawse-" in name or name == "project"}
