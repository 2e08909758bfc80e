"""The handlers of `sandbox.*`."""

from gateway.sandboxes.feed import SandboxFeed
from gateway.sandboxes.lifecycle import Sandboxes
from hawse.api.rights import in_sandbox
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
)
from hawse.api.spec import Nothing
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.wire import Principal


class SandboxMethods:
    """The methods. `feed` serves the watches."""

    def __init__(self, sandboxes: Sandboxes, feed: SandboxFeed) -> None:
        self._sandboxes = sandboxes
        self._feed = feed

    @handles(SandboxCreate)
    async def create(self, params: SandboxCreate) -> SandboxInfo:
        return await self._sandboxes.create(params)

    @handles(SandboxGet)
    async def get(self, params: SandboxGet) -> SandboxInfo:
        return await self._sandboxes.get(params.id)

    @handles(SandboxList, caller=True)
    async def list_(self, params: SandboxList, caller: Principal) -> SandboxListResult:
        found = await self._sandboxes.list(params.labels)
        return SandboxListResult(sandboxes=[one for one in found if in_sandbox(caller.rights, one.id, own=False)])

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
        return Nothing()

    @serves(SandboxWatch)
    def watch(self, call: ServerCall, params: SandboxWatch) -> None:
        self._feed.serve(call, params.labels)
