"""An agent saves a directory, changes it, and gets it back."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

import hawse
from hawse.api.backups import BackupInfo, BackupProgress
from hawse.client import Sandbox
from hawse.mcp.tool import ToolCall
from hawse.mcp.tools.backups import BackupCreateTool
from tests.support.mcp_agent import OpenAgent
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_directory_is_saved_restored_and_forgotten(agent: OpenAgent, box: Sandbox) -> None:
    await box.files.write_text("project/f", "one")
    await box.files.write_text("project/x.log", "left out")
    async with agent() as call:
        assert await call("backup_list") == "there are none"
        made = await call.result("backup_create", path="project", name="first", exclude=["*.log"])
        assert made.content[0].text.endswith(": 2 entries, 3 bytes")
        id = made.structured_content["id"]
        await box.files.write_text("project/f", "two")
        assert f"{id}  3 bytes  project  first" in await call("backup_list")
        assert await call("backup_restore", id=id) == "2 entries, 3 bytes"
        assert await box.files.read("project/f") == b"one"
        assert await call("backup_restore", id=id, path="elsewhere") == "2 entries, 3 bytes"
        assert "bubblewrap" in await call.fails("backup_restore", id=id, path="overlay", mode="overlay")
        assert "not_found" in await call.fails("backup_create", path="missing")
        assert await call("backup_delete", id=id) == f"backup {id} deleted"
        assert "not_found" in await call.fails("backup_delete", id=id)
        assert "not_found" in await call.fails("backup_restore", id=id)


async def test_a_backup_of_another_sandbox_is_not_deleted(agent: OpenAgent, box: Sandbox, stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandboxes.create("other") as other:
        await other.files.write_text("f", "x")
        made = await hw.backups.create("other")
        async with agent() as call:
            assert made.id not in await call("backup_list")
            assert "not_found" in await call.fails("backup_delete", id=made.id)
        assert [one.id for one in await hw.backups.list(sandbox="other")] == [made.id]
        await hw.backups.delete(made.id)


class Backups:
    """Backups whose creation reports once, and ends when the agent knows."""

    def __init__(self) -> None:
        self.known = asyncio.Event()

    async def create(self, path: str, *, on_progress: Any, **_: Any) -> BackupInfo:
        on_progress(BackupProgress(phase="packing", entries=1000, bytes=2))
        await self.known.wait()
        return BackupInfo(id="b", sandbox="box", path=path, changed=3)


async def test_progress_is_reported() -> None:
    backups = Backups()
    seen: list[str] = []

    async def report(done: float, text: str) -> None:
        seen.append(text)
        backups.known.set()

    box = SimpleNamespace(id="box", backups=backups)
    answer = await BackupCreateTool(path="p").run(ToolCall(box=cast(Sandbox, box), report=report))
    assert answer.text == "backup b: 0 entries, 0 bytes, 3 files changed while they were being read"
    assert seen == ["packing: 1,000 entries, 2 bytes"]
