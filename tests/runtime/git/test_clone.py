"""`git.clone`: progress, credentials that stay secret, and no files of a clone that failed or was cancelled."""

import asyncio
import os
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hawse_runtime.git.runner import GitLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support.git_server import GitServer, commit, git, repository
from tests.support.runtime import Channel, Client, Served, children, eventually, no_fd_leaked
from tests.support.waiting import in_directory, tasks_ended

ACCESS = {"username": "ann", "password": "s3cr:t/é@%"}


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    (tmp_path / "served").mkdir()
    with GitServer(tmp_path / "served") as server:
        yield server


def clone(client: Client, url: str, *, key: str | None = None, **params: Any) -> Channel:
    return client.call("git.clone", {"url": url, **params}, key=key)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def public_data_of_children() -> bytes:
    """The arguments and environments of all child processes, which other users' programs may read."""
    data = b""
    for pid in children():
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):  # it has ended meanwhile
            data += b"".join(Path(f"/proc/{pid}/{name}").read_bytes() for name in ("cmdline", "environ"))
    return data


def holding(folder: Path, secret: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and secret in path.read_bytes()]


def noise(size: int) -> str:
    return random.Random(size).randbytes(size).hex()


async def test_a_clone_is_complete_and_reports_its_progress(client: Client, served: Served, server: GitServer) -> None:
    work = server.create("project", {f"{number}/file": noise(2000) for number in range(300)})
    with no_fd_leaked():
        stream = clone(client, server.url("project"))
        head = await stream.result()
        target = served.workspace / "project"
        assert head == {"path": str(target), "commit": git(work, "rev-parse", "HEAD").strip(), "branch": "main"}
        assert git(target, "status", "--porcelain") == ""
        assert names(served.workspace) == ["project"]
        phases = {event.value["phase"] for event in stream.events}
        assert phases & {"Receiving objects", "Counting objects", "Updating files", "Resolving deltas"}
        assert all(0 <= event.value["percent"] <= 100 for event in stream.events)


async def test_depth_branch_filter_and_path(client: Client, served: Served, server: GitServer) -> None:
    work = server.create("project", {"a": "1"})
    commit(work, {"a": "2"})
    git(work, "checkout", "-q", "-b", "topic")
    tip = commit(work, {"b": "3"})
    git(work, "push", "-q", "origin", "main", "topic")
    head = await clone(client, server.url("project"), path="deep/er/x", depth=1, branch="topic").result()
    target = served.workspace / "deep/er/x"
    assert (head["commit"], head["branch"], head["path"]) == (tip, "topic", str(target))
    assert git(target, "rev-list", "--count", "HEAD").strip() == "1"
    await clone(client, server.url("project"), path="partial", filter="blob:none").result()
    assert git(served.workspace / "partial", "config", "remote.origin.partialclonefilter").strip() == "blob:none"
    (served.workspace / "empty").mkdir()
    await clone(client, server.url("project"), path="empty").result()
    assert (served.workspace / "empty/a").read_text() == "2"


async def test_a_path_and_a_file_url_can_be_cloned_and_an_empty_repository_too(
    client: Client, served: Served, tmp_path: Path
) -> None:
    repository(tmp_path / "local", {"a": "1"})
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "nothing.git")
    assert (await clone(client, str(tmp_path / "local")).result())["branch"] == "main"
    assert (await clone(client, f"file://{tmp_path}/local", path="again", depth=1).result())["commit"]
    head = await clone(client, str(tmp_path / "nothing.git")).result()
    assert (head["path"], head["commit"], head["branch"]) == (str(served.workspace / "nothing"), None, "main")


@pytest.mark.parametrize("in_url", [False, True])
async def test_only_the_server_sees_the_credentials(
    client: Client, served: Served, server: GitServer, tmp_path: Path, in_url: bool
) -> None:
    server.create("project", {"a": "1"})
    server.credentials = (ACCESS["username"], ACCESS["password"])
    server.stall = 0
    (tmp_path / ".gitconfig").write_text(f"[credential]\n\thelper = store --file={tmp_path}/stored\n")
    url = server.url("project")
    if in_url:
        url = url.replace("//", "//ann:s3cr%3At%2F%C3%A9%40%25@")
        stream = clone(client, url)
    else:
        stream = clone(client, url, credentials=ACCESS)
    await asyncio.to_thread(server.stalled.wait)
    seen = public_data_of_children()
    assert b"http-backend" in seen or b"remote-http" in seen
    assert b"s3cr" not in seen
    stream.cancel()
    await stream.refusal()
    server.stall = None
    await clone(client, url, credentials=None if in_url else ACCESS).result()
    assert holding(served.workspace, b"s3cr") == []
    assert not (tmp_path / "stored").exists()
    config = git(served.workspace / "project", "config", "--list", "--local")
    assert f"remote.origin.url={server.url('project')}\n" in config


async def test_a_filtered_clone_asks_for_the_credentials_more_than_once(
    client: Client, served: Served, server: GitServer
) -> None:
    server.create("project", {"a": "1", "b": "2"})
    server.credentials = (ACCESS["username"], ACCESS["password"])
    await clone(client, server.url("project"), filter="blob:none", credentials=ACCESS).result()
    assert (served.workspace / "project/b").read_text() == "2"


async def test_credentials_do_not_follow_a_redirect_to_another_server(
    client: Client, server: GitServer, tmp_path: Path
) -> None:
    server.create("project", {"a": "1"})
    server.credentials = ("ann", "other")
    with GitServer(tmp_path / "served") as first:
        first.redirect = server.origin
        error = await clone(client, first.url("project"), credentials=ACCESS).refusal()
    assert error.details["reason"] == "authentication"
    assert {authorization for _, authorization in server.seen} == {None}


async def test_a_failed_clone_has_a_reason_and_leaves_no_files(
    client: Client, served: Served, server: GitServer
) -> None:
    server.create("project", {"a": "1"})
    (served.workspace / "full").mkdir()
    (served.workspace / "full/file").touch()
    (served.workspace / "file").touch()
    before = names(served.workspace)
    url = server.url("project")
    with no_fd_leaked():
        for params, code, reason in (
            ({"url": server.url("none")}, "not_found", "remote"),
            ({"url": url, "branch": "none", "path": "a/b/c"}, "not_found", "revision"),
            ({"url": url, "path": "full"}, "conflict", "exists"),
            ({"url": url, "path": "file"}, "conflict", "exists"),
            ({"url": "http://127.0.0.1:1/x"}, "io_error", "network"),
            ({"url": "/nowhere/at/all"}, "not_found", "remote"),
        ):
            error = await client.call("git.clone", params).refusal()
            assert (error.code, error.details["reason"]) == (code, reason), error
        server.credentials = ("ann", "right")
        for credentials in ({"username": "ann", "password": "wr0ng-one"}, None):
            error = await client.call("git.clone", {"url": url, "credentials": credentials}).refusal()
            assert (error.code, error.details["reason"]) == ("permission_denied", "authentication")
            assert "wr0ng" not in str(error) + str(error.details)
        error = await clone(client, url.replace("//", "//ann:wr0ng-one@")).refusal()
        assert "wr0ng" not in str(error) + str(error.details)
    assert names(served.workspace) == before


async def test_a_path_that_leaves_no_room_for_the_clone_is_refused_and_leaves_no_directories(
    client: Client, served: Served, server: GitServer
) -> None:
    server.create("project", {"a": "1"})
    depth = (4080 - len(str(served.workspace))) // 2  # a file can have this path, but none beside it with a longer name
    before = names(served.workspace)
    error = await clone(client, server.url("project"), path="a/" * depth + "x").refusal()
    assert error.code == "invalid_params"
    assert names(served.workspace) == before


async def test_a_timeout_ends_a_clone(client: Client, served: Served, server: GitServer) -> None:
    before = children()
    server.create("project", {"a": noise(100_000)})
    server.stall = 1000
    error = await clone(client, server.url("project"), timeout=0.5).refusal()
    assert error.code == "deadline_exceeded"
    assert names(served.workspace) == []
    await eventually(lambda: children() <= before)  # the server, in this process, may be running its own git


@pytest.mark.parametrize("stall", [None, 0, 500, 50_000])
@pytest.mark.parametrize("how", ["cancel", "cut"])
async def test_a_clone_that_is_cancelled_or_disconnected_at_any_step_leaves_no_files(
    served: Served, server: GitServer, stall: int | None, how: str
) -> None:
    server.create("project", {"a": noise(100_000)})
    server.stall = stall
    with no_fd_leaked():
        async with served.client() as observer:
            await observer.info()
            tasks, processes = asyncio.all_tasks(), children()
            for path in ("x", "y/z"):
                client = await served.client()
                stream = clone(client, server.url("project"), path=path)
                if stall is not None:
                    await asyncio.to_thread(server.stalled.wait)
                if how == "cancel":
                    stream.cancel()
                    assert (await stream.refusal()).code == "cancelled"
                await client.cut()
            if stall is not None:
                await in_directory(served.workspace, lambda: names(served.workspace) == [])
            await served.until(lambda: len(served.runtime.server.links) == 1)
            await tasks_ended(tasks)
            await eventually(lambda: children() <= processes)  # processes are reaped without an event
            left = [path for path in names(served.workspace) if path.startswith(".hawse")]
            assert left == []


async def test_a_clone_with_a_key_continues_after_a_lost_connection(served: Served, server: GitServer) -> None:
    server.create("project", {"a": noise(100_000)})
    server.stall = 1000
    first = await served.client()
    clone(first, server.url("project"), key="k")
    await asyncio.to_thread(server.stalled.wait)
    await first.cut()
    async with served.client() as second:
        stream = clone(second, server.url("project"), key="k")
        server.stall = None
        server.release()
        with pytest.raises(Exception, match="io_error"):  # the server broke the transfer off
            await stream.result()
        again = clone(second, server.url("project"), key="k")
        assert (await again.refusal()).code == "io_error"
        assert (await clone(second, server.url("project"), key="l").result())["branch"] == "main"
        assert (await clone(second, server.url("project"), key="l").result())["branch"] == "main"
        assert len([path for path, _ in server.seen if "info/refs" in path]) == 2


@pytest.mark.parametrize("limits", [RuntimeLimits(git=GitLimits(resume_timeout=0.05))])
async def test_a_clone_with_a_key_ends_if_its_call_is_not_repeated(served: Served, server: GitServer) -> None:
    server.create("project", {"a": noise(100_000)})
    server.stall = 1000
    client = await served.client()
    clone(client, server.url("project"), key="k")
    await asyncio.to_thread(server.stalled.wait)
    assert names(served.workspace) != []
    await client.cut()
    await in_directory(served.workspace, lambda: names(served.workspace) == [])


async def test_a_clone_is_cancelled_by_its_key(served: Served, client: Client, server: GitServer) -> None:
    server.create("project", {"a": noise(100_000)})
    server.stall = 1000
    stream = clone(client, server.url("project"), key="k")
    await asyncio.to_thread(server.stalled.wait)
    await client.ask("git.cancel", {"key": "other"})
    assert not stream.closed
    await client.ask("git.cancel", {"key": "k"})
    assert (await stream.refusal()).code == "cancelled"
    assert names(served.workspace) == []
    await client.ask("git.cancel", {"key": "k"})


async def test_the_end_of_the_runtime_ends_a_clone(tmp_path: Path, server: GitServer) -> None:
    server.create("project", {"a": noise(100_000)})
    server.stall = 1000
    async with Served(tmp_path) as served:
        client = await served.client()
        clone(client, server.url("project"), key="k")
        await asyncio.to_thread(server.stalled.wait)
    assert os.listdir(served.workspace) == []
    await client.cut()


async def test_many_clones_at_once(client: Client, served: Served, server: GitServer) -> None:
    server.create("project", {"a": "1"})
    streams = [clone(client, server.url("project"), path=f"c{number}") for number in range(8)]
    heads = [await stream.result() for stream in streams]
    assert names(served.workspace) == [f"c{number}" for number in range(8)]
    assert len({head["commit"] for head in heads}) == 1
