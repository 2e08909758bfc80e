"""A directory whose name is not valid UTF-8: programs start in it, and its name is sent in both directions."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hawse.api import GATEWAY, METHODS
from tests.support.code import create, run
from tests.support.runtime import Channel, Client, Served
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


async def test_code_runs_in_it_and_reports_its_name(client: Client, directory: Path, served: Served) -> None:
    context = await create(client, cwd=ODD, env={"NAME": "é"})
    assert context["cwd"] == f"{served.workspace}/{ODD}"
    assert [each["cwd"] for each in (await client.ask("code.list"))["contexts"]] == [context["cwd"]]
    done = await run(client, "import os; os.write(1, os.getcwdb() + b' ' + os.environb[b'PWD'] + os.environb[b'NAME'])")
    path = os.fsencode(directory)
    assert done.stdout == path + b" " + path + "é".encode()
    missing = await client.refused("code.create", id="d", cwd=f"{ODD}/missing")
    assert missing.code == "spawn_failed"


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


def takes_path(type: msgspec.inspect.Type) -> bool:
    """Return whether a field is a `hawse.api.types.Path`, a list of paths, or optional."""
    match type:
        case msgspec.inspect.StrType(min_length=1, max_length=4096):
            return True
        case msgspec.inspect.UnionType(types=types):
            return any(takes_path(each) for each in types)
        case msgspec.inspect.ListType(item_type=item):
            return takes_path(item)
    return False


def fields(method: str) -> list[str]:
    info = msgspec.inspect.type_info(METHODS[method].params)
    assert isinstance(info, msgspec.inspect.StructType)
    return [field.encode_name for field in info.fields if takes_path(field.type)]


WITH_PATHS = sorted(method for method in METHODS if method not in GATEWAY and fields(method))
REQUIRED: dict[str, dict[str, Any]] = {
    "backup.unpack": {"sha256": "0" * 64},
    "code.create": {"id": "c"},
    "exec": {"command": "pwd"},
    "file.chmod": {"mode": 0o755},
    "file.edit": {"edits": [{"old": "a", "new": "b"}]},
    "file.search": {"pattern": "x"},
    "file.write": {"input": "i"},
    "git.clone": {"url": "/nowhere/x"},
    "git.commit": {"message": "m"},
    "process.start": {"id": "p", "command": "pwd"},
    "session.exec": {"id": "s", "command": "pwd"},
    "session.process": {"session": "s", "command": "pwd"},
    "terminal.create": {"id": "t", "argv": ["cat"]},
}


async def answered(call: Channel) -> None:
    """Wait until a call has proceeded without failing because of a bug, and cancel it."""
    await call.until(lambda: call.closed or call.events)
    assert call.error is None or call.error.code not in ("internal", "io_error"), call.error
    call.cancel()
    await call.until(lambda: call.closed)


@pytest.mark.parametrize("method", WITH_PATHS)
async def test_each_method_with_a_path_takes_one_that_is_not_utf_8(
    client: Client, directory: Path, method: str
) -> None:
    (directory / "f").write_text("a")
    await client.ask("session.create", id="s")
    for field in fields(method):
        odd = [ODD] if field == "paths" else ODD
        required = {name: ODD for name in ("path", "to", "archive") if name in fields(method)}
        await answered(client.call(method, {**required, **REQUIRED.get(method, {}), field: odd}))
