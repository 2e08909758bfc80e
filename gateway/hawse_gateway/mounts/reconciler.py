"""Keeps mounts in the state that their rows describe.

A mount is mounted while its sandbox is running. After the sandbox has ended, the remaining files are uploaded. All
mounts are checked whenever a row changes, and their processes are checked every few seconds. Several gateways on one
machine can share the state directory, which contains a lock for each mount.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from hawse.api.mounts import MountInfo, MountState
from hawse.rpc.fair_turns import FairTurns
from hawse.wire import HawseError
from hawse_gateway.core.cancellation import finished
from hawse_gateway.mounts import rclone
from hawse_gateway.mounts.locks import MountLocks
from hawse_gateway.mounts.plan import Inside
from hawse_gateway.mounts.processes import MountProcesses
from hawse_gateway.mounts.records import TABLE, MountRecord, MountRecords
from hawse_gateway.mounts.settings import MountSettings, Source, given_source, named_source
from hawse_gateway.mounts.source_probes import SourceProbes
from hawse_gateway.providers.base import MountPlace, Provider
from hawse_gateway.sandboxes.records import RUNS, SANDBOXES, Run, read
from hawse_gateway.store.base import ANY_TABLE, Store, StoreError, store_errors_unavailable

log = logging.getLogger(__name__)

POLL: Final = 1.0  # seconds between checks of processes and caches, because uploads don't cause events
PROBE: Final = 120.0  # seconds between checks that a mount's bucket exists
RETRY: Final = 10.0  # seconds before a failed mount is retried
AT_ONCE: Final = 4  # maximum number of mounts started concurrently
ENSURE_TIMEOUT: Final = 30.0  # maximum number of seconds that a sandbox's first call waits for its mounts
CACHE_SLACK: Final = 2  # a mount is stopped if its pending uploads need more than this multiple of the cache limit


class MountReconciler:
    """The mounts on this machine.

    Args:
        store: The rows.
        providers: The providers, keyed by name.
        processes: The processes that serve the mounts.
        settings: The operator's settings.
        locks: The directory for the locks.
        images: The directory for backup images, each named after its backup's id.
        probe: Seconds between checks that a mount's bucket exists.
    """

    def __init__(
        self,
        store: Store,
        providers: Mapping[str, Provider],
        processes: MountProcesses,
        settings: MountSettings,
        locks: Path,
        images: Path,
        *,
        probe: float = PROBE,
    ) -> None:
        self._store = store
        self._records = MountRecords(store)
        self._providers = providers
        self._processes = processes
        self._settings = settings
        self._locks = MountLocks(locks)
        self._images = images
        self._starts = FairTurns(AT_ONCE)  # users take turns, because an unresponsive store causes long delays
        self._failures: dict[str, tuple[str, float]] = {}  # the error and the time of the next attempt, keyed by mount
        self._probes = SourceProbes(self._probe, probe)
        self._wake = asyncio.Event()
        self._changed = asyncio.Condition()

    async def run(self) -> None:
        """Maintain the mounts until cancelled. Their processes keep running, and a restarted gateway finds them."""
        tables = (TABLE, RUNS, SANDBOXES, ANY_TABLE)
        stop = self._store.listen(lambda table, key: self._wake.set() if table in tables else None)
        try:
            async with asyncio.TaskGroup() as probes:
                while True:
                    self._wake.clear()
                    busy = await self._look_at_all(probes)
                    async with self._changed:
                        self._changed.notify_all()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(POLL if busy else None):
                            await self._wake.wait()
        finally:
            stop()

    async def describe(self, record: MountRecord) -> MountInfo:
        """Return a mount's description, including its state."""
        id = record.info.id
        cached = await asyncio.to_thread(rclone.look, self._processes.folder(id).cache)
        state: MountState = "waiting"
        reason = None
        if record.deleting:
            state = "deleting"
        elif id in self._failures:
            state, reason = "failed", self._failures[id][0]
        elif await asyncio.to_thread(self._processes.alive, id) and self._processes.folder(id).mounted_in():
            state = "mounted"
        return msgspec.structs.replace(record.info, state=state, reason=reason, pending=cached.pending)

    async def ensure(self, sandbox: str) -> None:
        """Mount all of a running sandbox's mounts. Mounts that fail are retried later."""
        try:
            async with asyncio.timeout(ENSURE_TIMEOUT), asyncio.TaskGroup() as tasks:
                for record in await self._records.of(sandbox):
                    if record.info.id not in self._failures:
                        tasks.create_task(self._look_at(record.info.id), name=f"mount {record.info.id}")
        except (TimeoutError, HawseError) as error:
            log.warning("! mounts of sandbox %s: %s", sandbox, error, extra={"sandbox": sandbox})

    async def create(self, record: MountRecord) -> None:
        """Create a mount. If this fails, undo the creation. Raises `HawseError`."""
        async with self._locks.exclusive(record.info.id):
            await self._records.add(record)
            try:
                if (run := await self._run_of(record)) is None:
                    raise HawseError("unavailable", f"sandbox {record.info.sandbox!r} is not running")
                await self._start(record, run, check=True)
                self._probes.note_seen(record.info.id)
            except BaseException as error:
                await finished(self._undo(record, error))
                self._locks.remove(record.info.id)
                raise

    async def _undo(self, record: MountRecord, error: BaseException) -> None:
        """Undo a creation that failed with `error`."""
        tail = await asyncio.to_thread(self._processes.tail, record.info.id)
        log.warning("! mount of %s was not made: %s: %s", record.info.source, error, tail)
        with suppress(HawseError):
            if record.info.backup is not None and (run := await self._run_of(record)) is not None:
                await self._remove(record, run, force=True)
        await self._records.remove(record.info.id)

    async def check(self, sandbox: str) -> None:
        """Raise `HawseError` (`unavailable`) if a sandbox does not support mounts."""
        with store_errors_unavailable():
            rows = await read(self._store, sandbox)
        if rows.live is None:
            raise HawseError("unavailable", f"sandbox {sandbox!r} is not running")
        await self._place(rows.live.value)

    async def delete(self, record: MountRecord, *, force: bool, discard: bool) -> None:
        """Start deleting a mount. Use `wait_until_removed` to wait until it has been deleted.

        An overlay stays mounted until its row is marked as deleted. Otherwise, if the deletion were interrupted, the
        overlay could be mounted again with only part of its changes.

        Args:
            record: The mount.
            force: Whether to unmount it while programs are using it.
            discard: Whether to delete it even if some files have not been uploaded.

        Raises:
            HawseError: `conflict` if programs are using it; `unavailable` if the check or the unmount fails. The mount
                stays unchanged.
        """
        id = record.info.id
        async with self._locks.exclusive(id):
            if (run := await self._run_of(record)) is not None:
                inside = await self._inside(record, run)
                if record.info.backup is None:
                    await self._processes.unmount(id, inside, force=force)
                elif not force:
                    await self._processes.check_unused(id, inside)
            if not await self._records.note_deleting(id, force=force, discard=discard):
                self._locks.remove(id)  # another call has already deleted the mount

    async def wait_until_removed(self, id: str, timeout: float) -> None:
        """Wait until a mount's row has been removed. Raises `HawseError` (`unavailable`)."""
        self._wake.set()
        try:
            async with asyncio.timeout(timeout), self._changed:
                while await self._records.get(id) is not None:
                    await self._changed.wait()
        except TimeoutError:
            cached = await asyncio.to_thread(rclone.look, self._processes.folder(id).cache)
            why, _ = self._failures.get(id, ("the upload takes longer", 0.0))
            text = (
                f"{cached.pending} files of mount {id!r} have not been uploaded yet; "
                f"the mount will be deleted afterwards: {why}"
            )
            if (record := await self._records.get(id)) is not None and record.info.backup is not None:
                text = f"the changes to mount {id!r} have not been deleted yet; the deletion continues: {why}"
            raise HawseError("unavailable", text, admitted="yes", details={"pending": cached.pending}) from None

    # ---- one mount

    async def _look_at_all(self, probes: asyncio.TaskGroup) -> bool:
        """Bring all mounts into the state described by their rows. Return whether to check again soon."""
        try:
            found = await self._records.all()
        except HawseError as error:
            log.warning("! mounts: %s", error)
            return True
        left = [id for id in await asyncio.to_thread(self._processes.ids) if id not in found and not id.startswith(".")]
        async with asyncio.TaskGroup() as tasks:
            for id in (*found, *left):
                tasks.create_task(self._look_at(id, probes), name=f"mount {id}")
        for id in self._failures.keys() - found.keys():
            del self._failures[id]
        self._probes.keep(found)
        return bool(found or left)

    async def _look_at(self, id: str, probes: asyncio.TaskGroup | None = None) -> None:
        """Bring one mount into the state described by its row. Failures are logged and retried.

        Args:
            id: The id of the mount.
            probes: The task group for probing its bucket. None means that the bucket isn't probed.
        """
        failed = self._failures.get(id)
        if failed is not None and asyncio.get_running_loop().time() < failed[1]:
            return
        async with self._failure_noted(id):
            async with self._locks.exclusive(id):
                record = await self._settle(id)
            if probes is not None and record is not None and self._probes.due(record):
                self._probes.start(record, probes)
            else:
                self._failures.pop(id, None)

    @asynccontextmanager
    async def _failure_noted(self, id: str) -> AsyncIterator[None]:
        """If the `async with` block fails to handle a mount, log the error and schedule a retry."""
        try:
            yield
        except (HawseError, OSError, StoreError) as error:
            text = error.message if isinstance(error, HawseError) else str(error)
            tail = await asyncio.to_thread(self._processes.tail, id)
            log.warning("! mount %s: %s: %s", id, text, tail.rpartition("\n")[2])
            self._failures[id] = (text, asyncio.get_running_loop().time() + RETRY)
        except Exception as error:  # a bug that affects one mount must not affect the others
            log.exception("! mount %s", id)
            self._failures[id] = (repr(error), asyncio.get_running_loop().time() + RETRY)

    async def _settle(self, id: str) -> MountRecord | None:
        """Bring one mount into the state described by its row. Return the row, or None if the mount has no row."""
        record = await self._records.get(id)
        if record is None:  # the mount was removed, or its creation failed
            await self._processes.end(id)
            await asyncio.to_thread(self._processes.remove, id)
            self._locks.remove(id)
            return None
        run = await self._run_of(record)
        if record.deleting or await self._is_orphan(record):
            await self._retire(record, run)
        elif run is None:
            await self._upload(record)
        elif self._processes.folder(id).mounted_in() == run.runtime and await asyncio.to_thread(
            self._processes.alive, id
        ):
            await self._check_size(record)
        else:
            await self._clear(record, run)
            await self._start(record, run, check=False)
        return record

    async def _clear(self, record: MountRecord, run: Run) -> None:
        """Unmount anything left in the sandbox by a killed process or gateway.

        An overlay that is still in use would keep writing to its directory of changes. Sharing this directory with the
        next overlay is undefined behaviour in the kernel. Programs must therefore stop using the old overlay first.

        Raises:
            HawseError: `conflict` if programs are using an overlay.
        """
        inside, overlay = await self._inside(record, run), record.info.backup is not None
        try:
            await self._processes.unmount(record.info.id, inside, force=not overlay)
        except HawseError as error:
            if error.code != "conflict":
                raise
            text = "the process that serves the mount has ended; it is mounted again when no program uses it"
            raise HawseError("conflict", text) from error

    async def _start(self, record: MountRecord, run: Run, *, check: bool) -> None:
        id = record.info.id
        await self._processes.end(id)  # ends a process left from an earlier start; its cache is reused
        inside, source = await self._inside(record, run), self._source(record)
        read_only = record.info.read_only or source.read_only
        async with self._starts.turn(record.info.owner or ""):
            await self._processes.start(
                id, source, inside=inside, runtime=run.runtime, read_only=read_only, check=check
            )
        log.info("= mount %s of %s at %s", id, record.info.source, record.info.path, extra={"sandbox": run.sandbox})

    async def _remove(self, record: MountRecord, run: Run, *, force: bool) -> None:
        """Unmount a mount from its sandbox. Also delete an overlay's changes, which are inside its mount point."""
        inside, discard = await self._inside(record, run), record.info.backup is not None
        await self._processes.unmount(record.info.id, inside, force=force, discard=discard)

    async def _retire(self, record: MountRecord, run: Run | None) -> None:
        """Remove a mount that is marked for deletion, once all of its files have been uploaded."""
        id = record.info.id
        if run is None and record.info.backup is not None and not await self._is_orphan(record):
            return  # the overlay's changes can only be deleted once the sandbox is running
        if run is not None and record.deleting:
            await self._remove(record, run, force=record.force)
        if await self._upload(record):
            await self._processes.end(id)
            await asyncio.to_thread(self._processes.remove, id)
            await self._records.remove(id)
            self._locks.remove(id)
            log.info("= mount %s deleted", id, extra={"sandbox": record.info.sandbox})

    async def _upload(self, record: MountRecord) -> bool:
        """End rclone once all files have been uploaded. Return whether it has ended.

        Called when no program is using the mount: the sandbox has ended, or the mount was unmounted.
        """
        id = record.info.id
        folder = self._processes.folder(id)
        alive = await asyncio.to_thread(self._processes.alive, id)
        if not record.discard:
            cached = await asyncio.to_thread(rclone.look, folder.cache)
            if cached.pending:
                if not alive:
                    async with self._starts.turn(record.info.owner or ""):
                        await self._processes.start(
                            id, self._source(record), inside=None, runtime=None, read_only=False, check=False
                        )
                return False
        if alive:
            await self._processes.end(id)
        return True

    async def _check_size(self, record: MountRecord) -> None:
        """End a mount whose cache is too large because programs write faster than rclone can upload."""
        id = record.info.id
        cached = await asyncio.to_thread(rclone.look, self._processes.folder(id).cache)
        if cached.pending and cached.size > CACHE_SLACK * self._settings.cache:
            await self._processes.end(id)
            text = f"{cached.size} bytes have not been uploaded yet, which exceeds the cache limit"
            raise HawseError("no_space", text)

    async def _probe(self, record: MountRecord) -> None:
        """Check that a mount's bucket still exists, and otherwise report a failure.

        If the bucket was deleted, programs see an empty mount, and nothing is uploaded. The mount and its pending
        uploads are kept in case the bucket is recreated.
        """
        id = record.info.id
        async with self._failure_noted(id):
            if await asyncio.to_thread(self._processes.alive, id):
                if (missing := await self._processes.missing(self._source(record))) is not None:
                    raise HawseError("unavailable", f"{missing}; nothing is uploaded until it exists again")
                self._probes.note_seen(id)
            self._failures.pop(id, None)

    # ---- looking up a mount's source and sandbox

    def _source(self, record: MountRecord) -> Source:
        info = record.info
        if info.backup is not None:
            image = self._images / info.backup
            if not image.is_file():
                text = (
                    f"the image of backup {info.backup!r} was deleted: restore it with the mode `overlay` to build it "
                    "again, unless the backup was deleted as well"
                )
                raise HawseError("unavailable", text)
            return Source(image=image)
        assert info.bucket is not None
        if record.credentials is not None:
            return given_source(info.bucket, info.prefix, record.credentials)
        return named_source(self._settings, info.bucket, info.prefix, info.owner or "", info.sandbox)

    async def _run_of(self, record: MountRecord) -> Run | None:
        """Return the current run of a mount's sandbox, or None if the sandbox isn't running."""
        with store_errors_unavailable():
            rows = await read(self._store, record.info.sandbox)
        run = None if rows.live is None else rows.live.value
        running = run is not None and run.state in ("running", "paused") and run.generation == record.generation
        return run if running else None

    async def _is_orphan(self, record: MountRecord) -> bool:
        """Return whether a mount's sandbox was deleted."""
        with store_errors_unavailable():
            rows = await read(self._store, record.info.sandbox)
        return rows.sandbox is None or rows.sandbox.value.generation != record.generation

    async def _inside(self, record: MountRecord, run: Run) -> Inside:
        place = await self._place(run)
        return Inside(pid=place.pid, user=place.user, workspace=place.workspace, path=record.info.path)

    async def _place(self, run: Run) -> MountPlace:
        """Return the information needed for mounting in a sandbox's run. Raises `HawseError` (`unavailable`)."""
        provider = self._providers.get(run.provider)
        if provider is None:
            raise HawseError("unavailable", f"this gateway has no provider {run.provider!r}")
        return await provider.mount_place(run.unit)
