"""Handlers for `sandbox.*`."""

import math
from typing import Final

import msgspec

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
from hawse.wire import Principal
from hawse_gateway.sandboxes.creation import Creations, EndLinks, no_links
from hawse_gateway.sandboxes.feed import SandboxFeed
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.overview.index import Scope
from hawse_gateway.sandboxes.table import PAGE_ROWS

PAGE_BYTES: Final = 512 << 10  # maximum page size for `sandbox.list`, in bytes; half the control message limit


class SandboxMethods:
    """Handlers for `sandbox.*`."""

    def __init__(
        self, sandboxes: Sandboxes, feed: SandboxFeed, creations: Creations, *, end_links: EndLinks = no_links
    ) -> None:
        """Create the handlers.

        Args:
            sandboxes: The sandboxes.
            feed: Serves `sandbox.watch`.
            creations: Creates sandboxes for callers.
            end_links: Revokes all of a sandbox's share links that were created before a given time.
        """
        self._sandboxes = sandboxes
        self._feed = feed
        self._creations = creations
        self._end_links = end_links

    @handles(SandboxCreate, caller=True)
    async def create(self, params: SandboxCreate, caller: Principal) -> SandboxInfo:
        return await self._creations.create(params, caller)

    @handles(SandboxGet)
    async def get(self, params: SandboxGet) -> SandboxInfo:
        return await self._sandboxes.get(params.id)

    @handles(SandboxList, caller=True)
    async def list_(self, params: SandboxList, caller: Principal) -> SandboxListResult:
        limit = min(params.limit or PAGE_ROWS, PAGE_ROWS)
        found, after = await self._sandboxes.page(Scope.of(caller), params.labels, params.after, limit)
        size = 0
        for number, info in enumerate(found):
            size += len(msgspec.json.encode(info))
            if number and size > PAGE_BYTES:
                return SandboxListResult(sandboxes=found[:number], after=found[number - 1].id)
        return SandboxListResult(sandboxes=found, after=after)

    @handles(SandboxUpdate)
    async def update(self, params: SandboxUpdate) -> SandboxInfo:
        return await self._sandboxes.update(params)

    @handles(SandboxStart)
    async def start(self, params: SandboxStart) -> SandboxInfo:
        return await self._sandboxes.joining.let_join(params.id) or await self._sandboxes.start(params.id)

    @handles(SandboxStop, caller=True)
    async def stop(self, params: SandboxStop, caller: Principal) -> SandboxInfo:
        return await self._sandboxes.stop(params.id, f"stopped by {caller.name or caller.id}")

    @handles(SandboxPause, caller=True)
    async def pause(self, params: SandboxPause, caller: Principal) -> SandboxInfo:
        return await self._sandboxes.pause(params.id, f"paused by {caller.name or caller.id}")

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
