"""A directory whose name is not valid UTF-8: programs start in it, and its name is sent in both directions."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.runtime import Client, Served
from tests.support.sessions import execute

ODD = "d\0ff"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Served(tmp_path) as served:
        yield served


@pytest.fixture
async def client(served: Served) -> AsyncIterator[Client]:
    async with served.client() as client:
        yield client


@pytest.fixture
async def directory(served: Served) -> Path:
    path = served.workspace / os.fsdecode(b"d\xff")
    path.mkdir()
    return path


async def test_processes_and_commands_start_in_it_and_report_its_name(
    client: Client, directory: Path, served: Served
) -> None:
    cwd = f"{served.workspace}/{ODD}"
    started = await client.ask("process.start", id="p", command="pwd; sleep 1000", cwd=ODD)
    assert started["cwd"] == cwd
    assert [process["cwd"] for process in (await client.ask("process.list"))["processes"]] == [cwd]
    call = client.execute("pwd", cwd=ODD)
    assert (await call.event("opened"))["cwd"] == cwd
    await call.result()
    assert bytes(call.output) == os.fsencode(directory) + b"\n"


async def test_a_terminal_starts_in_it_and_reports_its_name(client: Client, directory: Path, served: Served) -> None:
    terminal = await client.ask("terminal.create", id="t", argv=["cat"], cwd=ODD)
    assert terminal["cwd"] == f"{served.workspace}/{ODD}"
    assert len((await client.ask("terminal.list"))["terminals"]) == 1


async def test_a_session_changes_to_it_and_starts_processes_in_it(client: Client, directory: Path) -> None:
    await client.ask("session.create", id="s")
    for command, cwd in (("pwd", ODD), ("cd d*; pwd", None), ("pwd", "."), ("pwd", str(directory.parent) + f"/{ODD}")):
        call = execute(client, command, cwd=cwd)
        assert (await call.result())["code"] == 0
        assert bytes(call.output) == os.fsencode(directory) + b"\n"
    (directory / "below").mkdir()
    started = await client.ask("session.process", session="s", command="pwd", cwd="below")
    reader = client.call("process.attach", {"id": started["id"]})
    await reader.result()
    assert bytes(reader.output) == os.fsencode(directory / "below") + b"\n"


async def test_an_invalid_path_is_refused_and_the_session_continues(client: Client) -> None:
    await client.ask("session.create", id="s")
    error = await execute(client, "true", cwd="a\0b").refusal()
    assert (error.code, error.details) == ("invalid_params", {"path": "$.cwd"})
    assert (await execute(client, "true").result())["code"] == 0


async def test_an_error_contains_its_encoded_name(client: Client, directory: Path) -> None:
    watch = await client.refused("watch.start", path=".", include=[f"{ODD}/.."])
    assert (watch.code, watch.details) == ("invalid_params", {"glob": f"{ODD}/.."})
    fd = os.open(directory, os.O_RDONLY)
    for _ in range(260):
        os.mkdir(b"\xff", dir_fd=fd)
        below = os.open(b"\xff", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    deep = await client.refused("file.delete", path=ODD, recursive=True)
    assert deep.code == "too_large"
    assert deep.details["path"].endswith("/\0ff")
    fd = os.open(directory, os.O_RDONLY)
    for _ in range(30):
        below = os.open(b"\xff", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.rename(b"\xff", os.fsencode(directory.parent / "rest"), src_dir_fd=fd)
    os.close(fd)
    for path in ("rest", ODD):
        await client.ask("file.delete", path=path, recursive=True)
