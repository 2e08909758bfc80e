"""The handlers of `sandbox.*`."""

import asyncio
import math
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol
from weakref import WeakValueDictionary

import msgspec

from gateway.sandboxes.feed import SandboxFeed
from gateway.sandboxes.lifecycle import Sandboxes
from gateway.sandboxes.owners import Owners, namespace
from hawse.api.rights import ALL, OPERATE, OWN, Right, allows, covers, in_sandbox
from hawse.api.sandboxes import (
    SandboxCreate,
    SandboxDelete,
    SandboxGet,
    SandboxInfo,
    SandboxList,
    SandboxListResult,
    SandboxPause,
    SandboxResume,
    SandboxStart,
    SandboxStop,
    SandboxUpdate,
    SandboxWatch,
    TemplateList,
    TemplateListResult,
)
from hawse.api.spec import Nothing
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError, Principal

EndLinks = Callable[[str, float], Awaitable[None]]


async def _no_links(sandbox: str, before: float) -> None:
    """For a gateway without links."""


class Snapshots(Protocol):
    """The backups from which sandboxes can be created."""

    async def check(self, snapshot: str, caller: Principal) -> None:
        """Raise `HawseError` (`not_found`) if it does not exist, or the caller may not use it."""

    async def fill(self, snapshot: str, sandbox: str, caller: Principal) -> None:
        """Make the workspace of a sandbox what is in a backup. Raises `HawseError`."""


class SandboxMethods:
    """The methods."""

    def __init__(
        self,
        sandboxes: Sandboxes,
        feed: SandboxFeed,
        owners: Owners,
        *,
        limit: int | None = None,
        end_links: EndLinks = _no_links,
        snapshots: Snapshots | None = None,
    ) -> None:
        """Create the handlers.

        Args:
            sandboxes: The sandboxes.
            feed: Serves the watches.
            owners: Knows which sandboxes belong to which caller.
            limit: How many sandboxes a user without every right may have. None: any number.
            end_links: Revokes the links of a sandbox that were created before a time.
            snapshots: The backups. None: there are none.
        """
        self._snapshots = snapshots
        self._filling: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by the id of the sandbox
        self._end_links = end_links
        self._limit = limit
        self._creating: Counter[str] = Counter()  # creations in progress by the user
        self._sandboxes = sandboxes
        self._feed = feed
        self._owners = owners

    @handles(SandboxCreate, caller=True)
    async def create(self, params: SandboxCreate, caller: Principal) -> SandboxInfo:
        everywhere = allows(caller.rights, OPERATE)
        if not everywhere:
            params = _in_namespace(params, caller)
        if params.snapshot is not None:
            if self._snapshots is None:
                raise HawseError("invalid_params", "this gateway has no backups", details={"path": "$.snapshot"})
            await self._snapshots.check(params.snapshot, caller)
        with self._room(params, caller):
            info = await self._sandboxes.create(params, caller.id)
        if not everywhere and info.owner != caller.id:
            raise HawseError("conflict", f"sandbox {info.id!r} exists, and belongs to another user")
        self._owners.note(info.id, info.owner or "")
        if info.created is not None:
            await self._end_links(info.id, info.created)  # of an earlier sandbox with this id, whose lifetime was over
        if params.snapshot is not None and self._snapshots is not None:
            await self._fill(info.id, params.snapshot, self._snapshots, caller)
        return info

    async def _fill(self, id: str, snapshot: str, snapshots: Snapshots, caller: Principal) -> None:
        """Give a new sandbox its content, once. If that fails, the sandbox is deleted."""
        lock = self._filling.setdefault(id, asyncio.Lock())
        async with lock:
            if await self._sandboxes.snapshot_of(id) is None:
                return
            try:
                await snapshots.fill(snapshot, id, caller)
                await self._sandboxes.note_filled(id)
            except BaseException:
                with suppress(HawseError):  # what has not ended is ended later
                    await self._sandboxes.delete(id)
                raise

    @contextmanager
    def _room(self, params: SandboxCreate, caller: Principal) -> Iterator[None]:
        """Raise `HawseError` (`limit_exceeded`) if the caller has as many sandboxes as it may have."""
        exists = params.id is not None and self._owners.owns(caller, params.id)
        if self._limit is None or ALL in caller.rights or exists:
            yield
            return
        if self._owners.count(caller.id) + self._creating[caller.id] >= self._limit:
            text = f"{caller.id!r} has {self._limit} sandboxes, which is the limit: delete one"
            raise HawseError("limit_exceeded", text)
        self._creating[caller.id] += 1
        try:
            yield
        finally:
            self._creating[caller.id] -= 1
            if not self._creating[caller.id]:
                del self._creating[caller.id]

    @handles(SandboxGet)
    async def get(self, params: SandboxGet) -> SandboxInfo:
        return await self._sandboxes.get(params.id)

    @handles(SandboxList, caller=True)
    async def list_(self, params: SandboxList, caller: Principal) -> SandboxListResult:
        found = await self._sandboxes.list(params.labels)
        visible = [one for one in found if in_sandbox(caller.rights, one.id, own=one.owner == caller.id)]
        return SandboxListResult(sandboxes=visible)

    @handles(SandboxUpdate)
    async def update(self, params: SandboxUpdate) -> SandboxInfo:
        return await self._sandboxes.update(params)

    @handles(SandboxStart)
    async def start(self, params: SandboxStart) -> SandboxInfo:
        return await self._sandboxes.start(params.id)

    @handles(SandboxStop)
    async def stop(self, params: SandboxStop) -> SandboxInfo:
        return await self._sandboxes.stop(params.id)

    @handles(SandboxPause)
    async def pause(self, params: SandboxPause) -> SandboxInfo:
        return await self._sandboxes.pause(params.id)

    @handles(SandboxResume)
    async def resume(self, params: SandboxResume) -> SandboxInfo:
        return await self._sandboxes.start(params.id)

    @handles(SandboxDelete)
    async def delete(self, params: SandboxDelete) -> Nothing:
        await self._sandboxes.delete(params.id)
        await self._end_links(params.id, math.inf)
        return Nothing()

    @handles(TemplateList)
    async def templates(self, params: TemplateList) -> TemplateListResult:
        return TemplateListResult(templates=self._sandboxes.templates.describe())

    @serves(SandboxWatch)
    def watch(self, call: ServerCall, params: SandboxWatch) -> None:
        self._feed.serve(call, params.labels)


def _in_namespace(params: SandboxCreate, caller: Principal) -> SandboxCreate:
    """Return the parameters of a caller that may create sandboxes of its own only, with an id in its namespace.

    Raises:
        HawseError: `forbidden` if it may not, `invalid_params` for an id outside of its namespace.
    """
    if not covers(caller.rights, str(Right(OPERATE, OWN))):
        raise HawseError("forbidden", f"this requires the right {OPERATE!r}, which {caller.id!r} does not have")
    prefix = namespace(caller.id)
    if params.id is None:
        return msgspec.structs.replace(params, id=prefix + secrets.token_hex(5))
    if not params.id.startswith(prefix):
        text = f"the ids of your sandboxes begin with {prefix!r}, not like {params.id!r}"
        raise HawseError("invalid_params", text, details={"path": "$.id"})
    return params
