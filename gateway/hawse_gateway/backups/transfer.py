"""Transfers archives between sandboxes and the store, for `backup.create` and `backup.restore`."""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, Protocol, TypeVar, get_args

import msgspec

from hawse.api.backups import (
    BackupCreate,
    BackupFormat,
    BackupInfo,
    BackupPack,
    BackupPackResult,
    BackupProgress,
    BackupRestore,
    BackupRestoreResult,
    BackupUnpack,
)
from hawse.api.rights import OPERATE, check
from hawse.wire import Event, HawseError, Principal
from hawse_gateway.auth.call_check import Owns, owns_nothing
from hawse_gateway.auth.identity import principal_in
from hawse_gateway.auth.principals import GATEWAY
from hawse_gateway.backups.overlays import BackupOverlays, no_overlays
from hawse_gateway.backups.records import BackupRecord, BackupRecords
from hawse_gateway.backups.space import BackupSpace
from hawse_gateway.backups.stores import BackupStore
from hawse_gateway.upstream.call import UpstreamCall, UpstreamItem
from hawse_gateway.upstream.sandbox_link import SandboxLink

log = logging.getLogger(__name__)

ATTEMPTS: Final = 3  # maximum number of attempts if the link to the sandbox is lost during a transfer
CLEANUP_TIMEOUT: Final = 10.0  # seconds to spend cleaning up after a failed transfer
PROGRESS_BYTES: Final = 4 << 20  # bytes to transfer between two progress reports
STALL_TIMEOUT: Final = 300.0  # maximum seconds without a byte or event; removing the old tree can take a long time
# Maximum seconds per transfer. A sandbox that sends a byte now and then never reaches STALL_TIMEOUT.
WORK_TIMEOUT: Final = 12 * 3600.0

Report = Callable[[BackupProgress], None]
Moved = Callable[[], None]
T = TypeVar("T")


class LinkTable(Protocol):
    """The interface for getting a sandbox's link."""

    def get(self, sandbox: str | None) -> SandboxLink: ...


class BackupTransfers:
    """Creates, restores and deletes backups.

    Args:
        links: Returns the links to sandboxes.
        store: The store for the archives.
        records: The backup rows.
        owns: Returns whether a caller owns a sandbox.
        space: The limits on backups. None uses the defaults.
        overlays: Restores backups as overlays. None disables overlays.
        stall_timeout: The maximum time without a byte or event before a transfer fails, in seconds.
        work_timeout: The maximum duration of a transfer, in seconds.
    """

    def __init__(
        self,
        links: LinkTable,
        store: BackupStore,
        records: BackupRecords,
        owns: Owns = owns_nothing,
        *,
        space: BackupSpace | None = None,
        overlays: BackupOverlays | None = None,
        stall_timeout: float = STALL_TIMEOUT,
        work_timeout: float = WORK_TIMEOUT,
    ) -> None:
        self._owns = owns
        self._space = space or BackupSpace(records)
        self._overlays = overlays
        self._stall_timeout = stall_timeout
        self._work_timeout = work_timeout
        self._links = links
        self._store = store
        self._records = records

    async def create(self, params: BackupCreate, caller: Principal, report: Report) -> BackupInfo:
        """Create a backup. After a failure or cancellation, the partial backup is deleted.

        Raises:
            HawseError: `limit_exceeded` if the backup is too large, `deadline_exceeded` if the transfer stalls,
                `io_error` if the sandbox violates the protocol, or an error from the sandbox or the store.
        """
        overlays = self._needed() if params.overlay else None
        now = self._records.clock.now()
        expires = None if params.ttl is None else now.after(params.ttl)
        info = BackupInfo(
            id=f"b-{secrets.token_hex(8)}",
            sandbox=params.sandbox,
            path=params.path,
            name=params.name,
            owner=caller.id,
            created=now.wall,
            expires=None if expires is None else expires.wall,
        )
        record = BackupRecord(info=info, begun=now, expires=expires)
        async with self._records.creating(record):
            try:
                async with self._watched() as moved:
                    packed = await _repeated(lambda: self._store_archive(record, params, caller, report, moved))
                    record.info = msgspec.structs.replace(info, **msgspec.structs.asdict(packed))
                    if overlays is not None:
                        await overlays.prepare(record.info, report, moved)
                record.ready, record.reserved = True, 0
                await self._records.update(record)
            except BaseException:
                await _cleaned(self.delete(info.id))
                raise
        return record.info

    async def restore(
        self, params: BackupRestore, record: BackupRecord, caller: Principal, report: Report
    ) -> BackupRestoreResult:
        """Restore a backup. After a failure or cancellation, the sandbox is unchanged.

        Raises:
            HawseError: `not_found` or `forbidden` if the caller may not operate the sandbox, or any error that `create`
                raises.
        """
        sandbox = params.sandbox or record.info.sandbox
        check(principal_in(caller, sandbox, own=self._owns(caller, sandbox)), OPERATE)
        if params.mode == "overlay":
            overlays, path = self._needed(), params.path or record.info.path
            async with self._watched() as moved:
                return await overlays.restore(record.info, sandbox, path, caller, report, moved)
        link = self._links.get(sandbox)
        async with self._watched() as moved:
            return await _repeated(lambda: self._unpack(link, params, record.info, caller, report, moved))

    async def delete(self, id: str) -> None:
        """Delete a backup's archive, its row and, unless it is mounted, its image."""
        await self._store.delete(id)
        await self._records.remove(id)
        if self._overlays is not None:
            await self._overlays.discard(id)

    async def sweep(self) -> None:
        """Delete expired backups, unfinished backups left by killed gateways, and images that are no longer needed.

        If a deletion fails, the next call retries it.
        """
        for id, record in (await self._records.all()).items():
            try:
                if self._records.expired(record) or await self._records.abandoned(record):
                    log.info("= backup %s %s", id, "has expired" if record.ready else "was not finished")
                    await self.delete(id)
            except Exception as error:  # an error with one backup must not affect the others
                log.warning("! backup %s: %r", id, error)
        if self._overlays is not None:
            await self._overlays.sweep((await self._records.all()).keys())

    def _needed(self) -> BackupOverlays:
        """Return the overlays. Raises `HawseError` (`unavailable`) if overlays are disabled or this machine cannot
        build images."""
        if self._overlays is None:
            raise no_overlays()
        self._overlays.check()
        return self._overlays

    @asynccontextmanager
    async def _watched(self) -> AsyncIterator[Moved]:
        """Yield a function to call whenever data or an event arrives. If it isn't called for `stall_timeout`, cancel
        the block.

        Raises:
            HawseError: `deadline_exceeded`.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self._work_timeout
        stalled = asyncio.timeout(self._stall_timeout)

        def moved() -> None:
            if not stalled.expired():
                stalled.reschedule(min(loop.time() + self._stall_timeout, end))

        try:
            async with stalled:
                yield moved
        except TimeoutError:
            if not stalled.expired():
                raise
            text = f"no data was transferred for {self._stall_timeout:g} s"
            # The loop's clock isn't used here, because it can be slightly behind the loop's timers.
            if stalled.when() == end:
                text = f"it took longer than {self._work_timeout:g} s"
            raise HawseError("deadline_exceeded", f"the transfer was aborted: {text}", admitted="yes") from None

    async def _store_archive(
        self, record: BackupRecord, params: BackupCreate, caller: Principal, report: Report, moved: Moved
    ) -> BackupPackResult:
        source = BackupPack(
            path=params.path, exclude=params.exclude, gitignore=params.gitignore, compression=params.compression
        )
        report(BackupProgress(phase="packing"))  # sandboxes report no progress for small directories
        digest, size = hashlib.sha256(), 0
        link = self._links.get(params.sandbox)
        async with (
            self._store.writing(record.info.id) as writer,
            UpstreamCall(link, "backup.pack", source, principal=GATEWAY) as call,
        ):
            while (item := await call.next()) is not None:
                moved()
                if isinstance(item, UpstreamItem):
                    digest.update(item.payload)
                    size += len(item.payload)
                    await self._space.reserve(record, caller, size)
                    await writer.write(item.payload)
                else:
                    _pass_on(item, report)
            packed = _answer(await call.result(), BackupPackResult)
            if packed.sha256 != digest.hexdigest() or packed.size != size:
                raise HawseError("io_error", "the received archive has the wrong size or SHA-256", admitted="yes")
            if packed.format not in get_args(BackupFormat):
                raise HawseError("io_error", "the sandbox created an archive of an unknown format", admitted="yes")
            await writer.commit()
            moved()
        return packed

    async def _unpack(
        self,
        link: SandboxLink,
        params: BackupRestore,
        info: BackupInfo,
        caller: Principal,
        report: Report,
        moved: Moved,
    ) -> BackupRestoreResult:
        archive = f".hawse-restore-{secrets.token_hex(8)}"
        try:
            await self._send(link, archive, info, caller, report, moved)
            unpack = BackupUnpack(archive=archive, sha256=info.sha256, path=params.path or info.path)
            async with UpstreamCall(link, "backup.unpack", unpack, principal=GATEWAY) as call:
                while (item := await call.next()) is not None:
                    moved()
                    if isinstance(item, Event):
                        _pass_on(item, report)
                return _answer(await call.result(), BackupRestoreResult)
        finally:
            await _cleaned(_perform(link, "file.delete", {"path": archive}, caller))

    async def _send(
        self, link: SandboxLink, archive: str, info: BackupInfo, caller: Principal, report: Report, moved: Moved
    ) -> None:
        """Send the archive to a file in the sandbox."""
        report(BackupProgress(phase="reading"))
        sent = reported = 0
        upload = {"path": archive, "input": secrets.token_hex(8), "mode": 0o600}
        async with UpstreamCall(link, "file.write", upload, principal=caller) as call:
            content = self._store.read(info.id)
            try:
                async for data in content:
                    if not await call.send(data):
                        break  # stop sending; the call's error is raised below
                    moved()
                    sent += len(data)
                    if sent - reported >= PROGRESS_BYTES:
                        reported = sent
                        report(BackupProgress(phase="reading", bytes=sent))
            finally:
                await content.aclose()
            call.end()
            await call.result()


def _pass_on(event: Event, report: Report) -> None:
    if event.name == "progress":
        with _of_sandbox():
            progress = msgspec.json.decode(event.value, type=BackupProgress)
        report(progress)


def _answer(value: Any, kind: type[T]) -> T:
    with _of_sandbox():
        return msgspec.convert(value, kind)


@contextmanager
def _of_sandbox() -> Iterator[None]:
    """Raise `HawseError` (`io_error`) for an invalid response, which could come from any program in the sandbox."""
    try:
        yield
    except msgspec.MsgspecError as error:
        log.warning("! a sandbox sent an invalid answer: %s", error)
        raise HawseError("io_error", "the sandbox sent an invalid answer", admitted="unknown") from None


async def _perform(link: SandboxLink, method: str, params: Any, caller: Principal) -> None:
    async with UpstreamCall(link, method, params, principal=caller) as call:
        await call.result()


async def _repeated(attempt: Callable[[], Awaitable[T]]) -> T:
    """Retry a transfer if the link to the sandbox is lost. A lost link leaves no partial state in the sandbox."""
    for _ in range(ATTEMPTS - 1):
        try:
            return await attempt()
        except HawseError as error:
            if error.code != "interrupted":
                raise
            log.info("! repeating a transfer: %s", error)
    return await attempt()


async def _cleaned(work: Awaitable[None]) -> None:
    """Clean up after a transfer. Errors are only logged, because the transfer's own error is more important."""
    try:
        async with asyncio.timeout(CLEANUP_TIMEOUT):
            await work
    except (HawseError, TimeoutError) as error:
        if not (isinstance(error, HawseError) and error.code == "not_found"):
            log.warning("! after a transfer: %r", error)
