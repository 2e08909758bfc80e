"""`backup_create`, `backup_list`, `backup_restore`, `backup_delete`: backups of directories, stored by the gateway."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Final, TypeVar

from msgspec import Meta, field

from hawse.api.backups import BackupInfo, BackupName, BackupProgress, RestoreMode
from hawse.api.types import Id, Path
from hawse.client.backups import OnProgress
from hawse.mcp.tool import PROGRESS_INTERVAL, Answer, Arguments, ToolCall, tool
from hawse.plain.excerpt import excerpt
from hawse.wire import HawseError

T = TypeVar("T")

LISTED: Final = 100  # maximum number of backups per response
Globs = Annotated[list[str], Meta(max_length=100)]


@tool("backup_create", destructive=False)
class BackupCreateTool(Arguments):
    """Save a copy of a directory on the gateway, for example before a risky change. The backup outlives the sandbox.

    Args:
        path: The directory, relative to the workspace unless it is absolute.
        name: A display name.
        exclude: Globs for files to exclude, such as node_modules.
        gitignore: Whether to exclude files that git ignores.
    """

    path: Path = "."
    name: BackupName | None = None
    exclude: Globs = field(default_factory=list)
    gitignore: bool = False

    async def run(self, call: ToolCall) -> Answer:
        box = call.box
        made = await _reporting(
            call,
            lambda report: box.backups.create(
                self.path, name=self.name, exclude=self.exclude, gitignore=self.gitignore, on_progress=report
            ),
        )
        notes = f", {made.changed} files changed while they were being read" if made.changed else ""
        return Answer(f"backup {made.id}: {made.entries:,} entries, {made.bytes:,} bytes{notes}", data=_data(made))


@tool("backup_restore", idempotent=True)
class BackupRestoreTool(Arguments):
    """Restore a directory from a backup, completely or not at all. The directory's current content is replaced.

    Args:
        id: The id of the backup.
        path: The directory, relative to the workspace unless it is absolute; by default, the backup's directory.
        mode: overlay copies nothing, so it is instant even for large backups. The directory must then be empty or new,
            and below the workspace.
    """

    id: Id
    path: Path | None = None
    mode: RestoreMode = "copy"

    async def run(self, call: ToolCall) -> Answer:
        box = call.box
        done = await _reporting(
            call,
            lambda report: box.backups.restore(self.id, path=self.path, mode=self.mode, on_progress=report),
        )
        data = {"entries": done.entries, "bytes": done.bytes, "skipped": done.skipped, "mount": done.mount}
        how = f"{done.bytes:,} bytes" if done.mount is None else f"mounted as {done.mount}"
        return Answer(f"{done.entries:,} entries, {how}", data=data)


@tool("backup_list", safe=True)
class BackupListTool(Arguments):
    """List the backups of this sandbox, newest first."""

    async def run(self, call: ToolCall) -> Answer:
        found = await call.box.backups.list()
        lines = [f"{one.id}  {one.bytes:,} bytes  {one.path}  {one.name or ''}".rstrip() for one in found[:LISTED]]
        if len(found) > LISTED:
            lines.append(f"[{len(found) - LISTED} older ones are omitted]")
        text = excerpt("\n".join(lines) or "there are none", call.limit)
        return Answer(text, data={"backups": [_data(one) for one in found[:LISTED]]})


@tool("backup_delete", idempotent=True)
class BackupDeleteTool(Arguments):
    """Delete a backup of this sandbox.

    Args:
        id: The id of the backup.
    """

    id: Id

    async def run(self, call: ToolCall) -> Answer:
        await call.box.backups.delete(self.id)
        return Answer(f"backup {self.id} deleted")


async def _reporting(call: ToolCall, work: Callable[[OnProgress], Awaitable[T]]) -> T:
    """Perform a backup or restore, and send its progress to the client."""
    latest: list[BackupProgress] = []
    done: list[T] = []
    failed: list[HawseError] = []

    def note(progress: BackupProgress) -> None:
        latest[:] = [progress]

    async def perform() -> None:
        try:
            done.append(await work(note))
        except HawseError as error:  # not raised here, because the task group would wrap the exception
            failed.append(error)

    async with asyncio.TaskGroup() as tasks:
        performing = tasks.create_task(perform())
        steps = 0
        while not performing.done():
            await asyncio.wait([performing], timeout=PROGRESS_INTERVAL)
            if latest and not performing.done():
                steps += 1
                text = f"{latest[0].phase}: {latest[0].entries:,} entries, {latest[0].bytes:,} bytes"
                await call.progress(steps, text)
    if failed:
        raise failed[0]
    return done[0]


def _data(info: BackupInfo) -> dict[str, object]:
    found = {"id": info.id, "path": info.path, "name": info.name, "entries": info.entries, "bytes": info.bytes}
    return {**found, "created": info.created}
