"""Creating, restoring, listing and deleting backups."""

import asyncio
import os
from typing import Any, cast

import pytest

from hawse.api.backups import (
    BackupCancel,
    BackupCreate,
    BackupDelete,
    BackupGet,
    BackupInfo,
    BackupList,
    BackupListResult,
    BackupProgress,
    BackupRestore,
    BackupRestoreResult,
    BackupUsage,
    BackupUsageResult,
    SandboxSnapshot,
)
from hawse.api.paths import to_text
from hawse.client.backups import BackupCall, Backups, SandboxBackups, take_snapshot
from hawse.client.base.call_errors import NotFoundError
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable
from hawse.wire import Event
from hawse.wire.messages import to_raw

SENT = BackupInfo(id="b", sandbox="box", path=to_text(os.fsdecode(b"caf\xe9")))
INFO = BackupInfo(id="b", sandbox="box", path=os.fsdecode(b"caf\xe9"))
USAGE = BackupUsageResult(backups=1, bytes=2, max_backups=None, max_bytes=3)
PROGRESS = BackupProgress(phase="packing", entries=1, bytes=2)


class Recorded:
    """A call table that notes requests, and performs a call that reports once."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.posted: list[ClientCall] = []
        self.cancelled = False

    async def request(self, params: Any, *, sandbox: str | None) -> Any:
        assert sandbox is None
        self.requests.append(params)
        if isinstance(params, BackupUsage):
            return USAGE
        return BackupListResult(backups=[SENT]) if isinstance(params, BackupList) else SENT

    async def perform(self, call: BackupCall) -> Any:
        assert call.repeats, "it continues after a lost connection"
        self.requests.append(call.params())
        if self.cancelled:
            raise asyncio.CancelledError
        call.receive_event(Event(ch=1, name="progress", value=to_raw(PROGRESS)))
        call.receive_event(Event(ch=1, name="a later event", value=to_raw({})))
        creates = not isinstance(call.params(), BackupRestore)
        return call.finished(to_raw(SENT if creates else BackupRestoreResult(entries=1, bytes=2)))

    def post(self, call: ClientCall) -> None:
        self.posted.append(call)


async def test_an_option_that_does_not_exist_is_refused_by_name() -> None:
    backups = Backups(cast(CallTable, Recorded()))
    with pytest.raises(TypeError, match=r"^create\(\) got an unexpected keyword argument 'excluded'$"):
        await backups.create("box", **cast(Any, {"excluded": ["*.o"]}))


async def test_backups_are_created_restored_listed_and_deleted() -> None:
    recorded = Recorded()
    backups = Backups(cast(CallTable, recorded))
    reports: list[BackupProgress] = []
    name = os.fsdecode(b"\xe9")
    assert await backups.create("box", name, exclude=[name], ttl=5, on_progress=reports.append) == INFO
    assert (await backups.restore("b", sandbox="other", path=name)).bytes == 2
    await backups.restore("b")
    assert await backups.get("b") == INFO
    assert await backups.list(sandbox="box") == [INFO]
    assert await backups.usage() == USAGE
    await backups.delete("b")
    assert reports == [PROGRESS]
    assert recorded.requests == [
        BackupCreate(sandbox="box", path=to_text(os.fsdecode(b"\xe9")), exclude=[to_text(os.fsdecode(b"\xe9"))], ttl=5),
        BackupRestore(backup="b", sandbox="other", path=to_text(os.fsdecode(b"\xe9"))),
        BackupRestore(backup="b"),
        BackupGet(backup="b"),
        BackupList(sandbox="box"),
        BackupUsage(),
        BackupDelete(backup="b"),
    ]


async def test_the_backups_of_a_sandbox_need_no_sandbox() -> None:
    recorded = Recorded()
    backups = SandboxBackups(cast(CallTable, recorded), "box")
    reports: list[BackupProgress] = []
    given: dict[str, Any] = {"name": "n", "ttl": 5, "gitignore": True, "compression": "gzip", "overlay": True}
    assert await backups.create("project", exclude=["*.o"], on_progress=reports.append, **given) == INFO
    assert (await backups.restore("b", path="again", mode="overlay", on_progress=reports.append)).bytes == 2
    assert await backups.get("b") == INFO
    assert await backups.list() == [INFO]
    await backups.delete("b")
    assert reports == [PROGRESS, PROGRESS]
    assert recorded.requests == [
        BackupCreate(sandbox="box", path="project", exclude=["*.o"], **given),
        BackupRestore(backup="b", sandbox="box", path="again", mode="overlay"),
        BackupGet(backup="b"),
        BackupList(sandbox="box"),
        BackupGet(backup="b"),
        BackupDelete(backup="b"),
    ]


async def test_a_sandbox_does_not_have_the_backups_of_others() -> None:
    recorded = Recorded()
    backups = SandboxBackups(cast(CallTable, recorded), "other")
    for refused in (backups.get, backups.delete):
        with pytest.raises(NotFoundError, match=r"the sandbox 'other' has no backup 'b'"):
            await refused("b")
    assert recorded.requests == [BackupGet(backup="b"), BackupGet(backup="b")], "nothing is deleted"


async def test_a_snapshot_is_a_backup_of_the_workspace() -> None:
    recorded = Recorded()
    assert await take_snapshot(cast(CallTable, recorded), "box", "n", 5) == INFO
    assert recorded.requests == [SandboxSnapshot(id="box", name="n", ttl=5)]


async def test_a_caller_that_is_cancelled_ends_the_work() -> None:
    recorded = Recorded()
    recorded.cancelled = True
    with pytest.raises(asyncio.CancelledError):
        await Backups(cast(CallTable, recorded)).create("box")
    assert [type(call.params()) for call in recorded.posted] == [BackupCancel]
