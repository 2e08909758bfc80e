"""A gateway's sandboxes: create, find and watch them."""

import builtins
import secrets
from collections.abc import Callable, Mapping
from typing import NamedTuple, Unpack

import msgspec

from hawse.api.sandboxes import (
    SandboxDelete,
    SandboxDeleted,
    SandboxGet,
    SandboxInfo,
    SandboxList,
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
from hawse.client.sandbox.creation import SandboxCreation, SandboxOptions, create_params
from hawse.client.sandbox.sandbox import Sandbox
from hawse.wire import Event, HawseError

LANE = "sandboxes"


class SandboxChange(NamedTuple):
    """A change reported by a watch. `info` is None if the sandbox was deleted."""

    id: str
    info: SandboxInfo | None


class SandboxWatchCall(ClientCall):
    """A call to `sandbox.watch`. A repeated call first sends all existing sandboxes, so any that haven't been sent
    before the `live` event no longer exist.
    """

    def __init__(self, params: SandboxWatch, *, window: int) -> None:
        super().__init__(params, repeats=True)
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self._known: dict[str, SandboxInfo] = {}
        self._seen: set[str] | None = None  # ids received since the channel was opened; None after the `live` event

    def opening(self) -> int:
        self._seen = set()
        return super().opening()

    def receive_event(self, event: Event) -> None:
        cost = event_cost(event)
        # The first event opens the call. It can't wait for `live`, because the events before `live` can exceed the
        # window.
        self.mark_opened()
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
        self.spend(cost)


class SandboxChanges(StreamHandle[SandboxWatchCall, SandboxChange]):
    """`async with hw.sandboxes.watch() as changes: async for change in changes: …`

    Yields each existing sandbox, and then each change.
    """

    async def _next(self) -> SandboxChange:
        _, change = await self._call.receive_buffer.get(LANE)
        assert isinstance(change, SandboxChange)
        return change


class _Creator:
    """Creates a single sandbox, even if `create` is called more than once."""

    def __init__(
        self, calls: CallTable, handle: Callable[[str], Sandbox], id: str | None, options: SandboxOptions
    ) -> None:
        # Without an id, the client chooses one, so that repeating the call still creates only one sandbox.
        self._calls = calls
        self._handle = handle
        self._random = id is None
        self._params = create_params(_random_id("s-") if id is None else id, options)

    async def create(self) -> Sandbox:
        """Create the sandbox, and return its handle."""
        try:
            return await self._create()
        except HawseError as error:
            prefix = error.details.get("prefix") if isinstance(error.details, dict) else None
            if not self._random or error.code != "invalid_params" or not isinstance(prefix, str):
                raise
            # this caller may only create sandboxes whose ids start with the prefix
            self._params = msgspec.structs.replace(self._params, id=_random_id(prefix))
            return await self._create()

    async def _create(self) -> Sandbox:
        id = self._params.id
        assert id is not None
        # No other client knows a random id, so if the call fails, any sandbox that may have been created with it is
        # deleted.
        undo = SandboxDelete(id=id) if self._random else None
        try:
            await self._calls.request(self._params, sandbox=None, undo=undo)
        except HawseError as error:
            if isinstance(error.details, dict | None):
                error.details = {**(error.details or {}), "sandbox": id}
            raise
        return self._handle(id)


def _random_id(prefix: str) -> str:
    return prefix + secrets.token_hex(5)


class Sandboxes:
    """All of the gateway's sandboxes. The handle doesn't have to be closed."""

    def __init__(self, calls: CallTable, options: Options, *, gateway: str) -> None:
        """Create a handle.

        Args:
            calls: The client's calls.
            options: The client's options.
            gateway: The gateway's HTTP URL, for preview URLs.
        """
        self._calls = calls
        self._options = options
        self._gateway = gateway

    def create(self, id: str | None = None, **options: Unpack[SandboxOptions]) -> SandboxCreation:
        """Create and start a sandbox. Await the result, or use it with `async with`; leaving the block deletes the
        sandbox.

        Args:
            id: The id; None means a random id. If a sandbox with this id and the same arguments exists, it is returned.
                Users whose rights are limited to their own sandboxes must choose ids that start with their name and a
                dot.
            options: `provider`, `template`, `image`, `image_command`, `env`, `snapshot`, `labels`, `limits`, `network`,
                `egress`, `ports`, `timeout`, `idle_timeout`, `keep_alive`: see `SandboxOptions`.

        Raises:
            HawseError: When awaited: `conflict` if the id exists but with other arguments, `capacity_exceeded`,
                `cleanup_pending`, `invalid_params`, `unavailable`, `forbidden` if the caller may not create sandboxes,
                `limit_exceeded` if the caller has reached its limit. `details["sandbox"]` is the id. If the call fails
                or is cancelled, a sandbox created with a random id is deleted.
        """
        return SandboxCreation(_Creator(self._calls, self._handle, id, options).create)

    async def get(self, id: str) -> SandboxInfo:
        """Return the gateway's description of a sandbox, without starting it. Raises `not_found`."""
        return await self._calls.request(SandboxGet(id=id), sandbox=None)

    async def list(self, *, labels: Mapping[str, str] | None = None) -> list[SandboxInfo]:
        """Return the sandboxes that have all of these labels, without starting them.

        A long list takes several calls, so a sandbox created or deleted between them may or may not be included.
        """
        found: builtins.list[SandboxInfo] = []
        after = None
        while True:
            page = await self._calls.request(SandboxList(labels=dict(labels or {}), after=after), sandbox=None)
            found += page.sandboxes
            after = page.after
            if after is None:
                return found

    async def templates(self) -> builtins.list[TemplateInfo]:
        """Return the gateway's templates. Their names can be passed to `create`."""
        return (await self._calls.request(TemplateList(), sandbox=None)).templates

    def watch(self, *, labels: Mapping[str, str] | None = None) -> SandboxChanges:
        """Return a context manager and iterator over the sandboxes that have all of the labels, and their changes."""
        params = SandboxWatch(labels=dict(labels or {}))
        return SandboxChanges(self._calls, SandboxWatchCall(params, window=self._options.window))

    def _handle(self, id: str) -> Sandbox:
        return Sandbox(self._calls, id, self._options, gateway=self._gateway)
