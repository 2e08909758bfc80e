"""The sandboxes of a gateway: create, find and watch them."""

import builtins
import secrets
from collections.abc import Generator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from hawse.api.sandboxes import (
    Network,
    SandboxCreate,
    SandboxDeleted,
    SandboxGet,
    SandboxInfo,
    SandboxLimits,
    SandboxList,
    SandboxPort,
    SandboxWatch,
    TemplateInfo,
    TemplateList,
)
from hawse.api.spec import Nothing
from hawse.client.base.options import Options
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.receive_buffer import ReceiveBuffer
from hawse.client.calls.stream_handle import StreamHandle
from hawse.client.sandbox import Sandbox
from hawse.wire import Event, HawseError

LANE = "sandboxes"


class SandboxChange(NamedTuple):
    """A change that a watch reports: `info` is None if the sandbox was deleted."""

    id: str
    info: SandboxInfo | None


class SandboxWatchCall(ClientCall):
    """`sandbox.watch`. A repeat begins with all sandboxes; those that were deleted meanwhile are noticed at `live`."""

    def __init__(self, params: SandboxWatch, *, window: int) -> None:
        super().__init__(params, repeats=True)
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self._known: dict[str, SandboxInfo] = {}
        self._seen: set[str] | None = None  # since the channel was opened; None when `live` has come

    def opening(self) -> int:
        self._seen = set()
        return super().opening()

    def receive_event(self, event: Event) -> None:
        cost = event_cost(event)
        match self.decode(event):
            case SandboxInfo() as info:
                if self._seen is not None:
                    self._seen.add(info.id)
                if self._known.get(info.id) != info:
                    self._known[info.id] = info
                    self.receive_buffer.put(LANE, SandboxChange(info.id, info), cost)
                    return
            case SandboxDeleted(id=id):
                if self._known.pop(id, None) is not None:
                    self.receive_buffer.put(LANE, SandboxChange(id, None), cost)
                    return
            case Nothing():
                gone = self._known.keys() - (self._seen or set())
                self._seen = None
                for id in gone:
                    del self._known[id]
                    self.receive_buffer.put(LANE, SandboxChange(id, None))
                self.mark_opened()
        self.spend(cost)


class SandboxChanges(StreamHandle[SandboxWatchCall, SandboxChange]):
    """`async with hw.sandboxes.watch() as changes: async for change in changes: …`

    Yields each sandbox that exists, and then each change.
    """

    async def _next(self) -> SandboxChange:
        _, change = await self._call.receive_buffer.get(LANE)
        assert isinstance(change, SandboxChange)
        return change


class SandboxCreation:
    """`box = await hw.sandboxes.create()` creates a sandbox that stays.

    `async with hw.sandboxes.create() as box:` deletes it at the end, also after an exception.
    """

    def __init__(self, calls: CallTable, params: SandboxCreate, sandbox: Sandbox) -> None:
        self._calls = calls
        self._params = params
        self._sandbox = sandbox

    def __await__(self) -> Generator[Any, Any, Sandbox]:
        return self._create().__await__()

    async def __aenter__(self) -> Sandbox:
        return await self._create()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._sandbox.delete()
        except HawseError as failure:
            if failure.code not in ("not_found", "cleanup_pending"):  # the gateway finishes the deletion
                raise

    async def _create(self) -> Sandbox:
        await self._calls.request(self._params, sandbox=None)
        return self._sandbox


class Sandboxes:
    """All sandboxes of the gateway. It holds nothing open."""

    def __init__(self, calls: CallTable, options: Options, *, gateway: str) -> None:
        """Create a handle.

        Args:
            calls: The calls of the client.
            options: The options of the client.
            gateway: The HTTP URL of the gateway, for the URLs of previews.
        """
        self._calls = calls
        self._options = options
        self._gateway = gateway

    def create(
        self,
        id: str | None = None,
        *,
        provider: str | None = None,
        template: str | None = None,
        image: str | None = None,
        image_command: bool = False,
        env: Mapping[str, str] | None = None,
        snapshot: str | None = None,
        labels: Mapping[str, str] | None = None,
        limits: SandboxLimits | None = None,
        network: Network | None = None,
        ports: Sequence[SandboxPort] = (),
        timeout: float | None = None,
        idle_timeout: float | None = None,
        keep_alive: bool = False,
    ) -> SandboxCreation:
        """Create a sandbox and start it: await the result, or use it in `async with`, which deletes it at the end.

        Args:
            id: The id. The same id with the same arguments returns the existing sandbox. None: a random one.
            provider: The name of the provider; None: the gateway's default.
            template: The name of a template of the gateway.
            image: The image whose files it sees.
            image_command: Whether the command of the image is started, as the process `image`.
            env: The environment of all programs in it.
            snapshot: The id of a snapshot, or of another backup, whose content its workspace gets.
            labels: Labels, by which `list` selects.
            limits: What it may use.
            network: What it can connect to.
            ports: Ports that have a preview from the beginning.
            timeout: Seconds until it is deleted; None: never.
            idle_timeout: Seconds without activity after which it sleeps; None: the gateway's default.
            keep_alive: Whether it never sleeps.

        Raises:
            HawseError: When awaited: `conflict` for an id that was created with other arguments, `capacity_exceeded`,
                `cleanup_pending`, `invalid_params`, `unavailable`.
        """
        params = SandboxCreate(
            id=id if id is not None else f"s-{secrets.token_hex(5)}",  # so that a repeated call makes one sandbox
            provider=provider,
            template=template,
            image=image,
            image_command=image_command,
            env=dict(env or {}),
            snapshot=snapshot,
            labels=dict(labels or {}),
            limits=limits or SandboxLimits(),
            network=network,
            ports=list(ports),
            timeout=timeout,
            idle_timeout=idle_timeout,
            keep_alive=keep_alive,
        )
        assert params.id is not None
        return SandboxCreation(self._calls, params, self._handle(params.id))

    async def get(self, id: str) -> SandboxInfo:
        """Return a sandbox as the gateway knows it. It is not started. Raises `not_found`."""
        return await self._calls.request(SandboxGet(id=id), sandbox=None)

    async def list(self, *, labels: Mapping[str, str] | None = None) -> list[SandboxInfo]:
        """Return the sandboxes that have all of the labels. None is started."""
        return (await self._calls.request(SandboxList(labels=dict(labels or {})), sandbox=None)).sandboxes

    async def templates(self) -> builtins.list[TemplateInfo]:
        """Return the templates of the gateway, which `create` takes by name."""
        return (await self._calls.request(TemplateList(), sandbox=None)).templates

    def watch(self, *, labels: Mapping[str, str] | None = None) -> SandboxChanges:
        """Return a context manager and iterator of the sandboxes that have all of the labels, and of their changes."""
        params = SandboxWatch(labels=dict(labels or {}))
        return SandboxChanges(self._calls, SandboxWatchCall(params, window=self._options.window))

    def _handle(self, id: str) -> Sandbox:
        return Sandbox(self._calls, id, self._options, gateway=self._gateway)
