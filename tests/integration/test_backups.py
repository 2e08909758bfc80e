"""Backups through a real gateway: any tree, lost connections, a killed gateway, and damaged archives."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

import hawse
from hawse.client import BackupProgress, Options
from tests.support.gateway import eventually
from tests.support.lifecycle import suspend
from tests.support.proxy import CuttingProxy
from tests.support.s3_server import s3_server
from tests.support.stack import Stack
from tests.support.trees import plant, seen
from tests.support.waiting import TIMEOUT

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUICK = Options(backoff_cap=0.1)
TREE = {b"caf\xe9": b"latin", b"sub": {b"run": b"x" * 70, b"l": ("link", b"/nowhere"), b"\n": {b"deep": b""}}}


def workspace(stack: Stack) -> Path:
    return stack.state / "sandboxes/local/workspace"


def stored(stack: Stack) -> list[str]:
    folder = stack.state / "backups"
    return sorted(os.listdir(folder)) if folder.exists() else []


async def first(begun: asyncio.Event, work: "asyncio.Task[object]") -> None:
    """Wait for the event, which must be set before the work is done."""
    waiting = asyncio.create_task(begun.wait())
    await asyncio.wait([waiting, work], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    assert not work.done(), "it was done before"


async def test_a_workspace_is_restored_in_another_sandbox(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        plant(workspace(stack) / "s", TREE)
        os.symlink("s", workspace(stack) / "current")
        before = seen(workspace(stack))
        backup = await hw.backups.create("local", name="all")
        async with hw.sandboxes.create() as box:
            await box.files.write_text("old", "x")
            done = await hw.backups.restore(backup.id, sandbox=box.id)
            assert done.entries == backup.entries
            assert seen(stack.state / "sandboxes" / box.id / "workspace") == before
        await hw.backups.delete(backup.id)
        assert stored(stack) == []
        assert seen(workspace(stack)) == before


async def test_lost_connections_cost_nothing(stack: Stack) -> None:
    source = workspace(stack) / "s"
    source.mkdir()
    for number in range(40):
        (source / f"{number}").write_bytes(os.urandom(200_000))
    before = seen(source)
    async with (
        CuttingProxy(stack.port, seed=1, cut_after=(400, 3_000), cuts_left=12) as proxy,
        hawse.connect(proxy.url, token=stack.token, options=QUICK) as hw,
    ):
        backup = await hw.backups.create("local", "s", compression="none")
        (source / "0").write_text("changed")
        await hw.backups.restore(backup.id)
        assert [one.id for one in await hw.backups.list()] == [backup.id]
        await hw.backups.delete(backup.id)
    assert seen(source) == before
    assert os.listdir(workspace(stack)) == ["s"]


async def cancelled(runtime: int, begun: asyncio.Event, work: Coroutine[Any, Any, object]) -> None:
    """Cancel work once it has started. The runtime is suspended until then, so that the work cannot complete."""
    await suspend(runtime)
    try:
        working = asyncio.create_task(work)
        await first(begun, working)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
    finally:
        os.kill(runtime, signal.SIGCONT)


async def test_a_caller_that_gives_up_leaves_nothing(stack: Stack) -> None:
    source = workspace(stack) / "s"
    source.mkdir()
    for number in range(30):
        (source / f"{number}").write_bytes(os.urandom(1_000_000))
    async with hawse.connect(stack.base, token=stack.token) as hw:
        begun = asyncio.Event()
        pid = (await hw.sandbox().runtime()).pid
        await cancelled(pid, begun, hw.backups.create("local", "s", on_progress=lambda _: begun.set()))
        async with asyncio.timeout(TIMEOUT):
            while stored(stack):  # noqa: ASYNC110  # the gateway removes it without an event
                await asyncio.sleep(0.01)
        assert await hw.backups.list() == []
        backup = await hw.backups.create("local", "s")
        (source / "0").write_text("changed")
        before = seen(source)
        begun.clear()

        def note(progress: BackupProgress) -> None:
            if progress.phase == "reading":
                begun.set()

        await cancelled(pid, begun, hw.backups.restore(backup.id, on_progress=note))
        async with asyncio.timeout(TIMEOUT):
            while os.listdir(workspace(stack)) != ["s"]:  # noqa: ASYNC110  # the gateway removes it without an event
                await asyncio.sleep(0.01)
        assert seen(source) == before
        await hw.backups.delete(backup.id)


async def test_a_damaged_archive_changes_nothing(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        plant(workspace(stack) / "s", TREE)
        backup = await hw.backups.create("local", "s")
        before = seen(workspace(stack))
        path = stack.state / "backups" / backup.id
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        with pytest.raises(hawse.HawseError, match="io_error: the archive is damaged"):
            await hw.backups.restore(backup.id)
        path.write_bytes(data[:-100])
        with pytest.raises(hawse.HawseError, match="io_error: the archive is damaged"):
            await hw.backups.restore(backup.id)
        path.unlink()
        with pytest.raises(hawse.HawseError, match="io_error: archive not found"):
            await hw.backups.restore(backup.id)
        assert seen(workspace(stack)) == before
        await hw.backups.delete(backup.id)


async def test_backups_outlive_their_sandbox_and_a_killed_gateway(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        plant(workspace(stack) / "s", TREE)
        before = seen(workspace(stack) / "s")
        backup = await hw.backups.create("local", "s", ttl=1000)
        assert backup.expires == pytest.approx(backup.created + 1000)
        await hw.sandbox("local").delete()
    await stack.kill()
    await stack.start()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        async with hw.sandboxes.create() as box:
            await hw.backups.restore(backup.id, sandbox=box.id, path="again")
            assert seen(stack.state / "sandboxes" / box.id / "workspace/again") == before
        assert await hw.backups.get(backup.id) == backup
        await hw.backups.delete(backup.id)


async def test_the_part_of_a_backup_whose_gateway_was_killed_is_removed_at_the_next_start(stack: Stack) -> None:
    block = os.urandom(4 << 20)
    with (workspace(stack) / "large").open("wb") as file:
        for _ in range(64):
            file.write(block)
    parts = stack.state / "backups"
    async with hawse.connect(stack.base, token=stack.token) as hw:
        creating = asyncio.create_task(hw.backups.create("local", compression="none"))
        await eventually(lambda: any(part.stat().st_size for part in parts.glob("*.part")))
        await stack.kill()
        creating.cancel()
        await asyncio.wait([creating])
    assert list(parts.iterdir())
    await stack.start()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        await eventually(lambda: not list(parts.iterdir()))
        async with asyncio.timeout(20):
            while (await hw.backups.usage()).bytes:  # noqa: ASYNC110  # the row goes after the archive, by no event
                await asyncio.sleep(0.05)
        assert await hw.backups.list() == []


async def test_each_call_is_in_the_audit_log(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        plant(workspace(stack) / "s", TREE)
        backup = await hw.backups.create("local", "s")
        await hw.backups.delete(backup.id)
        with pytest.raises(hawse.HawseError, match="not_found"):
            await hw.backups.create("local", "missing")
        entries = await hw.audit.list(method="backup.")
        found = {(entry.action, entry.sandbox, entry.outcome) for entry in entries}
        assert {("backup.create", "local", "ok"), ("backup.delete", None, "ok")} <= found
        assert ("backup.create", "local", "not_found") in found


async def test_backups_in_a_bucket_are_restored_and_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with s3_server() as s3:
        for name, value in {**s3.environment, "AWS_REGION": "us-east-1"}.items():
            monkeypatch.setenv(name, value)
        async with (
            Stack(tmp_path / "state", "--backups", "s3://bucket/hawse") as stack,
            hawse.connect(stack.base, token=stack.token) as hw,
        ):
            await hw.sandbox().files.write("s/f", os.urandom(20_000_000))
            before = seen(workspace(stack))
            backup = await hw.backups.create("local")
            assert [len(data) for data in s3.objects.values()] == [backup.size]
            await hw.sandbox().files.write("s/f", b"changed")
            await hw.backups.restore(backup.id)
            assert seen(workspace(stack)) == before
            s3.fails = {"complete"}
            with pytest.raises(hawse.HawseError, match="io_error: the backup store refused"):
                await hw.backups.create("local")
            assert len(await hw.backups.list()) == 1
            await hw.backups.delete(backup.id)
            assert (s3.objects, s3.uploads) == ({}, {})


async def test_sandboxes_are_created_from_a_snapshot(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        plant(workspace(stack) / "s", TREE)
        before = seen(workspace(stack))
        snapshot = await hw.sandbox().snapshot(name="prepared", ttl=1000)
        assert (snapshot.path, snapshot.name) == (".", "prepared")
        for _ in range(2):
            async with hw.sandboxes.create("copy", snapshot=snapshot.id) as box:
                copied = stack.state / "sandboxes/copy/workspace"
                assert seen(copied) == before
                await box.files.write("own", b"x")
                await hw.sandboxes.create("copy", snapshot=snapshot.id)  # the same sandbox, with its current content
                assert (copied / "own").exists()
        (stack.state / "backups" / snapshot.id).write_bytes(b"damaged")
        with pytest.raises(hawse.HawseError, match="io_error: the archive is damaged"):
            await hw.sandboxes.create("copy", snapshot=snapshot.id)
        assert [info.id for info in await hw.sandboxes.list()] == ["local"]
        await hw.backups.delete(snapshot.id)
        with pytest.raises(hawse.HawseError, match="not_found"):
            await hw.sandboxes.create(snapshot=snapshot.id)


async def test_a_user_creates_sandboxes_of_its_own_snapshots_only(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        foreign = await hw.sandbox().snapshot()
        token = await hw.tokens.create("operator", user="ada", own=True)
        async with hawse.connect(stack.base, token=token.token) as ada:
            async with ada.sandboxes.create("ada.one") as box:
                await box.files.write("f", b"mine")
                mine = await box.snapshot()
            async with ada.sandboxes.create("ada.two", snapshot=mine.id) as box:
                assert await box.files.read("f") == b"mine"
            assert [one.id for one in await ada.backups.list()] == [mine.id]
            for work in (
                ada.backups.restore(foreign.id, sandbox="local"),
                ada.backups.restore(mine.id, sandbox="local"),
                ada.backups.create("local"),
                ada.backups.get(foreign.id),
            ):
                with pytest.raises(hawse.HawseError, match="not_found"):
                    await work
            with pytest.raises(hawse.HawseError, match="not_found"):
                await ada.sandboxes.create("ada.two", snapshot=foreign.id)
        assert {one.id for one in await hw.backups.list()} == {foreign.id, mine.id}
        for id in (foreign.id, mine.id):
            await hw.backups.delete(id)
