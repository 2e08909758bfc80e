"""Moves archives between sandboxes and the store: the work of `backup.create` and `backup.restore`."""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol, TypeVar

import msgspec

from gateway.auth.call_check import Owns, owns_nothing
from gateway.auth.identity import principal_in
from gateway.auth.principals import GATEWAY
from gateway.backups.records import BackupRecord, BackupRecords
from gateway.backups.stores import BackupStore
from gateway.http.upstream_call import UpstreamCall, UpstreamItem
from gateway.upstream.sandbox_link import SandboxLink
from hawse.api.backups import (
    BackupCreate,
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

log = logging.getLogger(__name__)

ATTEMPTS: Final = 3  # of a transfer whose link to the sandbox is lost
CLEANUP_TIMEOUT: Final = 10.0  # s for the removal of what a transfer that failed has left
PROGRESS_BYTES: Final = 4 << 20  # bytes between two reports

Report = Callable[[BackupProgress], None]
T = TypeVar("T")


class LinkTable(Protocol):
    """Knows the links to sandboxes."""

    def get(self, sandbox: str | None) -> SandboxLink: ...


class BackupTransfers:
    """Creates, restores and deletes backups.

    Args:
        links: May be called while the application runs.
        store: Where the archives are.
        records: The rows.
        owns: Returns whether a sandbox belongs to a caller.
    """

    def __init__(
        self, links: Callable[[], LinkTable], store: BackupStore, records: BackupRecords, owns: Owns = owns_nothing
    ) -> None:
        self._owns = owns
        self._links = links
        self._store = store
        self._records = records

    async def create(self, params: BackupCreate, caller: Principal, report: Report) -> BackupInfo:
        """Make a backup. If it fails or is cancelled, nothing is left of it."""
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
        await self._records.add(record)
        try:
            packed = await _repeated(lambda: self._store_archive(info.id, params, report))
            record.info = msgspec.structs.replace(info, **msgspec.structs.asdict(packed))
            record.ready = True
            await self._records.finish(record)
        except BaseException:
            await _cleaned(self.delete(info.id))
            raise
        return record.info

    async def restore(
        self, params: BackupRestore, record: BackupRecord, caller: Principal, report: Report
    ) -> BackupRestoreResult:
        """Restore a backup. If it fails or is cancelled, the sandbox is as it was.

        Raises:
            HawseError: `not_found` or `forbidden` if the caller may not operate the sandbox.
        """
        sandbox = params.sandbox or record.info.sandbox
        check(principal_in(caller, sandbox, own=self._owns(caller, sandbox)), OPERATE)
        link = self._links().get(sandbox)
        return await _repeated(lambda: self._unpack(link, params, record.info, caller, report))

    async def delete(self, id: str) -> None:
        """Delete an archive and its row."""
        await self._store.delete(id)
        await self._records.remove(id)

    async def delete_expired(self) -> None:
        """Delete the backups whose time is over. What cannot be deleted now is tried again next time."""
        for id, record in (await self._records.all()).items():
            if self._records.expired(record):
                log.info("= backup %s has expired", id)
                try:
                    await self.delete(id)
                except HawseError as error:  # the others are deleted anyway
                    log.warning("! backup %s: %s", id, error)

    async def _store_archive(self, id: str, params: BackupCreate, report: Report) -> BackupPackResult:
        source = BackupPack(
            path=params.path, exclude=params.exclude, gitignore=params.gitignore, compression=params.compression
        )
        digest = hashlib.sha256()
        link = self._links().get(params.sandbox)
        async with (
            self._store.writing(id) as writer,
            UpstreamCall(link, "backup.pack", source, principal=GATEWAY) as call,
        ):
            while (item := await call.next()) is not None:
                if isinstance(item, UpstreamItem):
                    digest.update(item.payload)
                    await writer.write(item.payload)
                else:
                    _pass_on(item, report)
            packed = msgspec.convert(await call.result(), BackupPackResult)
            if packed.sha256 != digest.hexdigest():
                raise HawseError("io_error", "the archive arrived with another SHA-256", admitted="yes")
            await writer.commit()
        return packed

    async def _unpack(
        self, link: SandboxLink, params: BackupRestore, info: BackupInfo, caller: Principal, report: Report
    ) -> BackupRestoreResult:
        archive = f".hawse-restore-{secrets.token_hex(8)}"
        try:
            await self._send(link, archive, info, caller, report)
            unpack = BackupUnpack(archive=archive, sha256=info.sha256, path=params.path or info.path)
            async with UpstreamCall(link, "backup.unpack", unpack, principal=GATEWAY) as call:
                while (item := await call.next()) is not None:
                    if isinstance(item, Event):
                        _pass_on(item, report)
                return msgspec.convert(await call.result(), BackupRestoreResult)
        finally:
            await _cleaned(_perform(link, "file.delete", {"path": archive}, caller))

    async def _send(self, link: SandboxLink, archive: str, info: BackupInfo, caller: Principal, report: Report) -> None:
        """Write the archive to a file in the sandbox."""
        sent = reported = 0
        upload = {"path": archive, "input": secrets.token_hex(8), "mode": 0o600}
        async with UpstreamCall(link, "file.write", upload, principal=caller) as call:
            content = self._store.read(info.id)
            try:
                async for data in content:
                    if not await call.send(data):
                        break  # its error is raised below
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
        report(msgspec.json.decode(event.value, type=BackupProgress))


async def _perform(link: SandboxLink, method: str, params: Any, caller: Principal) -> None:
    async with UpstreamCall(link, method, params, principal=caller) as call:
        await call.result()


async def _repeated(attempt: Callable[[], Awaitable[T]]) -> T:
    """Repeat a transfer whose link to the sandbox was lost: it has left nothing."""
    for _ in range(ATTEMPTS - 1):
        try:
            return await attempt()
        except HawseError as error:
            if error.code != "interrupted":
                raise
            log.info("! a transfer is repeated: %s", error)
    return await attempt()


async def _cleaned(work: Awaitable[None]) -> None:
    """Remove what a transfer has left. A failure is logged only: the error of the transfer matters more."""
    try:
        async with asyncio.timeout(CLEANUP_TIMEOUT):
            await work
    except (HawseError, TimeoutError) as error:
        if not (isinstance(error, HawseError) and error.code == "not_found"):
            log.warning("! after a transfer: %r", error)
