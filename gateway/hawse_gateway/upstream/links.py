"""Manages the links to all sandboxes and to the gateway's own methods."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final, Protocol
from weakref import WeakValueDictionary

from hawse.api.runtime import RuntimeConfigure
from hawse.link.keystrokes import Keystrokes
from hawse.rpc import Dispatcher, IdempotencyTable
from hawse.rpc.server import Server
from hawse.wire import HawseError
from hawse_gateway.auth.call_check import Owns, owns_nothing
from hawse_gateway.limits.calls import CallLimits
from hawse_gateway.providers.base import Endpoint, Report
from hawse_gateway.upstream.dial import MachineConnector, RuntimeLink, dial, dial_server
from hawse_gateway.upstream.observer import CallObserver
from hawse_gateway.upstream.sandbox_link import SandboxLink

CONNECT_TIMEOUT: Final = 10.0  # seconds to wait for a runtime to accept a link


Preparation = Callable[[str], Awaitable[None]]  # prepares a running sandbox for calls; called with its id


class EndpointSource(Protocol):
    """Starts sandboxes and returns their endpoints."""

    async def ensure(self, sandbox: str, report: Report | None = None, *, start: bool = True) -> Endpoint | None:
        """Return the endpoint for a sandbox's runtime.

        Args:
            sandbox: The sandbox's id.
            report: Called with the progress if the sandbox has to be started.
            start: Whether to start the sandbox if it is not running. If False, return None in that case.

        Raises:
            HawseError: The sandbox has no endpoint.
        """
        ...

    async def configuration(self, sandbox: str) -> RuntimeConfigure | None:
        """Return the configuration to send to the runtime before any other call, or None if there is none."""
        ...


class Links:
    """The links to all sandboxes, and the link to the gateway's own methods, which `dispatcher` handles.

    The gateway serves its own methods over a socket pair. Calls to sandboxes and to the gateway are therefore forwarded
    in the same way, with idempotency keys, deadlines, events, bytes and credit.
    """

    def __init__(
        self,
        sandboxes: EndpointSource,
        tasks: asyncio.TaskGroup,
        *,
        observer: CallObserver | None = None,
        owns: Owns = owns_nothing,
        limits: CallLimits | None = None,
        machines: MachineConnector | None = None,
        alone_for: Callable[[str], Awaitable[float]] | None = None,
        shared: bool = False,
        preparations: Sequence[Preparation] = (),
    ) -> None:
        """Create an instance without any links.

        Args:
            sandboxes: Starts sandboxes and returns their endpoints.
            tasks: The task group for links and for the gateway's own calls.
            observer: Notified of all calls.
            owns: Returns whether a caller owns a sandbox.
            limits: Limits each user's calls. It must also be notified as an observer. None disables the limits.
            machines: Connects to joined machines. None if machines can't join.
            alone_for: Returns the number of seconds since a sandbox's previous runtime ended, or 0 if unknown. Raises
                `HawseError`. None if the number is never known.
            shared: Whether other gateways serve the same sandboxes.
            preparations: Functions to await, in order, before a link to a running sandbox is opened. The list may still
                be extended later.
        """
        self._alone_for = alone_for
        self._preparations = preparations
        self._stopped = False
        self._machines = machines
        self.keystrokes = Keystrokes()  # shared by all clients
        self._limits = limits
        self._observer = observer
        self._owns = owns
        self._sandboxes = sandboxes
        self._tasks = tasks
        # A `SandboxLink` is kept only as long as its task or one of its calls exists. Calls to unknown sandboxes
        # therefore don't use up memory.
        self._links: WeakValueDictionary[str, SandboxLink] = WeakValueDictionary()
        self._running: set[asyncio.Task[None]] = set()  # tasks that run calls to the gateway's own methods
        self.dispatcher = Dispatcher(self._start, IdempotencyTable(shared=shared))
        self._server = Server(self.dispatcher, name="hawse-gateway")
        connect = partial(dial_server, self._server.accept)
        self.gateway = SandboxLink("gateway", connect, tasks, gateway=True, observer=observer, owns=owns, limits=limits)

    def get(self, sandbox: str | None) -> SandboxLink:
        """Return the link to a sandbox. If the sandbox is None, return the link to the gateway's own methods.

        The sandbox isn't looked up until the link is used for a call. Raises `HawseError` (`unavailable`) after `stop`.
        """
        if self._stopped:
            raise HawseError("unavailable", "the gateway is shutting down")
        if sandbox is None:
            return self.gateway
        link = self._links.get(sandbox)
        if link is None:
            link = self._links[sandbox] = SandboxLink(
                sandbox,
                partial(self._dial, sandbox),
                self._tasks,
                observer=self._observer,
                owns=self._owns,
                limits=self._limits,
            )
        return link

    def ready(self) -> list[SandboxLink]:
        """Return all links that are currently connected."""
        return [link for link in self._links.values() if link.ready]

    def retry_waiting(self) -> None:
        """Connect the links that calls are waiting for, because their sandboxes may have been started."""
        for link in list(self._links.values()):
            link.retry()

    def stop(self) -> None:
        self._stopped = True
        for link in [self.gateway, *self._links.values()]:
            link.stop()
        self._server.close()
        for task in self._running:
            task.cancel()

    async def configure(self, sandbox: str) -> None:
        """If a sandbox has a link, send its configuration to its runtime and wait for the result."""
        link = self._links.get(sandbox)
        if link is not None and (params := await self._sandboxes.configuration(sandbox)) is not None:
            await link.request(params)

    async def _dial(self, sandbox: str, owner: SandboxLink) -> RuntimeLink | None:
        """Start the sandbox if a call requires it, connect, and send the configuration before any other call."""
        endpoint = await self._sandboxes.ensure(sandbox, owner.report, start=owner.starts)
        if endpoint is None:
            return None
        for prepare in self._preparations:
            await prepare(sandbox)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                link = await dial(endpoint, owner, self.keystrokes, self._machines)
        except TimeoutError:
            raise HawseError("unavailable", f"the runtime did not answer within {CONNECT_TIMEOUT:g} s") from None
        try:
            if (params := await self._sandboxes.configuration(sandbox)) is not None:
                await owner.request(params, link)
            if self._alone_for is not None:
                link.alone_since = asyncio.get_running_loop().time() - await self._alone_for(sandbox)
        except HawseError as error:
            if error.code != "unknown_method":  # an older runtime may not have the configuration method
                link.abort()
                # The runtime is ending, so the next attempt connects to a new runtime.
                raise ConnectionRefusedError(str(error)) from error
        except BaseException:
            link.abort()
            raise
        return link

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._tasks.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task
