"""`box.files` without a sandbox: its requests, and what it makes of the results."""

import asyncio
import os
from pathlib import Path

import pytest

import hawse
from hawse.api.files import FileFailure
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.files.changes import wire_path
from hawse.client.files.files import Files
from hawse.wire import HawseError
from tests.support.client import MemoryConnection
from tests.support.fake_server import FakeServer

ENTRY = {"path": "caf\0e9", "type": "symlink", "size": 1, "mode": 0o777, "mtime": 1.5, "target": "\0ff"}


def test_a_path_is_text_bytes_or_a_path_and_travels() -> None:
    assert wire_path("a/b") == wire_path(b"a/b") == wire_path(Path("a/b")) == "a/b"
    assert wire_path(b"caf\xe9") == wire_path(os.fsdecode(b"caf\xe9")) == "caf\0e9"


async def asked(work, answer=None, *, events=(), error: HawseError | None = None):
    """Let `work(files)` ask, answer it; return the parameters and what it made of the answer."""
    calls = CallTable(Options())
    files = Files(calls, "local", window=1000).within("/r")
    task = asyncio.get_running_loop().create_task(work(files))
    connection = MemoryConnection(calls)
    await connection.until_called()
    for name, value in events:
        connection.event(name, value)
    if error is None:
        connection.result(answer)
    else:
        connection.error(error)
    return connection.call, connection.params, await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(
    ("work", "answer", "params", "outcome"),
    [
        (lambda f: f.mkdir(b"\xff", mode=1), {"created": False}, {"path": "\0ff", "mode": 1}, False),
        (lambda f: f.chmod("x", 0o600), {}, {"path": "x", "mode": 0o600}, None),
        (lambda f: f.delete("x"), {"deleted": 3}, {"path": "x"}, 3),
        (lambda f: f.rename("x", "y"), {}, {"path": "x", "to": "y"}, None),
        (lambda f: f.move("x", "y", overwrite=True), {}, {"path": "x", "to": "y", "overwrite": True}, None),
    ],
)
async def test_each_change_is_one_keyed_call_within_its_root(work, answer, params, outcome) -> None:
    call, sent, (got,) = await asked(work, answer)
    assert sent == {"root": "/r", **params}
    assert call.key
    assert got == outcome


async def test_a_question_that_changes_nothing_is_repeated_without_a_key() -> None:
    call, sent, (got,) = await asked(lambda f: f.exists("x", follow=False), {"exists": True, "type": "file"})
    assert sent == {"root": "/r", "path": "x", "follow": False}
    assert call.key is None
    assert got is True


async def test_entries_come_with_names_as_python_has_them() -> None:
    async def work(files: Files):
        return [entry async for entry in files.list("d", recursive=True, include=["*"])]

    events = [("entries", {"entries": [ENTRY]})]
    _, params, (got,) = await asked(work, {"entries": 1, "failed": 0}, events=events)
    assert params == {"path": "d", "root": "/r", "recursive": True, "include": ["*"]}
    assert [(entry.path, entry.target) for entry in got] == [(os.fsdecode(b"caf\xe9"), os.fsdecode(b"\xff"))]


async def test_entries_that_cannot_be_read_are_raised_or_reported() -> None:
    events = [("failed", {"path": "\0ff", "code": "permission_denied", "message": "no"})]
    reported: list[FileFailure] = []

    async def work(files: Files):
        return [entry async for entry in files.list("d")]

    async def tolerant(files: Files):
        return [entry async for entry in files.list("d", on_error=reported.append)]

    answer = {"entries": 0, "failed": 1}
    _, _, (got,) = await asked(work, answer, events=events)
    assert isinstance(got, HawseError)
    assert (got.code, got.details) == ("permission_denied", {"path": os.fsdecode(b"\xff")})
    _, _, (got,) = await asked(tolerant, answer, events=events)
    assert got == []
    assert reported[0].path == os.fsdecode(b"\xff")


async def test_text_is_written_and_read_in_its_encoding(hw: hawse.Client, server: FakeServer) -> None:
    files = hw.sandbox().files
    await files.write_text("t", "käse", encoding="latin-1")
    assert (server.root / "t").read_bytes() == b"k\xe4se"
    assert await files.read_text("t", encoding="latin-1") == "käse"
    with pytest.raises(UnicodeDecodeError):
        await files.read_text("t")
    assert await files.read_text("t", errors="replace") == "k�se"


@pytest.mark.parametrize("data", ["text", 5, None])
async def test_what_is_not_bytes_is_refused_before_anything_changes(
    hw: hawse.Client, server: FakeServer, data: object
) -> None:
    with pytest.raises(TypeError, match="use write_text" if data == "text" else "bytes-like"):
        await hw.sandbox().files.write("new", data)  # type: ignore[arg-type]
    assert not (server.root / "new").exists()
