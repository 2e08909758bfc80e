"""One link to each sandbox's runtime, connected when the first call needs it and shared by all clients.

When a link is lost, its calls end with `interrupted`; the next call connects a new one.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import Any, Final, Protocol
from weakref import WeakValueDictionary

from gateway.auth.principals import check_link
from gateway.providers.base import Provider
from gateway.upstream.dial import LinkOwner, RuntimeLink, dial, dial_server, watch
from hawse.link import StreamLink
from hawse.rpc import Dispatcher, IdempotencyTable
from hawse.rpc.server import Server
from hawse.wire import (
    Call,
    Credit,
    Data,
    Error,
    Event,
    Goaway,
    HawseError,
    LocalProtocolError,
    Message,
    Principal,
    RemoteProtocolError,
    Result,
)
from hawse.wire.messages import CHANNEL_MAX

log = logging.getLogger(__name__)

CONNECT_TIMEOUT: Final = 10.0  # s that a call waits for its runtime
RETRY_DELAYS: Final = (0.05, 0.2, 0.5)  # s between attempts of one connect: a runtime that is starting or ending
OVERDUE: Final = 0.5  # s after its timeout until the gateway ends a call: the runtime should have done so
CONGESTED: Final = 1 << 20  # bytes of unwritten control messages above which the gateway does not read from clients


Connect = Callable[[LinkOwner], Awaitable[RuntimeLink]]


class UpstreamCaller(Protocol):
    """A call on a link: the `ChannelBridge` of a client's channel, or an `UpstreamCall` of the gateway itself."""

    call: Call
    principal: Principal
    link_ch: int

    def start(self, link: StreamLink, waited: float = 0.0) -> int: ...

    def receive_data(self, data: Data) -> None: ...

    def receive_message(self, message: Event | Result | Error) -> None: ...

    def receive_credit(self, credit: Credit) -> None: ...

    def fail(self, error: HawseError) -> None: ...

    def abandon(self) -> None: ...


class SandboxLink:
    """Connects to one sandbox and passes what its link receives to the caller of the channel."""

    def __init__(self, sandbox: str, connect: Connect, tasks: asyncio.TaskGroup) -> None:
        """Create a link that connects when the first call needs it.

        Args:
            sandbox: The id of the sandbox, for the log.
            connect: Makes one attempt to connect.
            tasks: The parent of the task that connects and watches the link.
        """
        self.sandbox = sandbox
        self._connect_once = connect
        self._tasks = tasks
        self._task: asyncio.Task[None] | None = None  # connects, then watches the link; None: there is no link
        self._link: RuntimeLink | None = None  # set while it accepts calls
        self._callers: dict[int, UpstreamCaller] = {}  # by the link's channel
        self._waiting: dict[UpstreamCaller, float] = {}  # for a link, with the time when they began to wait
        self._timers: dict[UpstreamCaller, asyncio.TimerHandle] = {}  # of calls that have a timeout
        self._drained: dict[Callable[[], None], None] = {}  # an ordered set
        self._log = logging.LoggerAdapter(log, {"sandbox": sandbox})

    # ---- for callers

    def open(self, caller: UpstreamCaller) -> None:
        """Start the call, now or when there is a link. An unknown sandbox fails it with `not_found`."""
        if self._link is not None:
            self._start(caller, self._link, 0.0)
            return
        loop = asyncio.get_running_loop()
        self._waiting[caller] = loop.time()
        if caller.call.timeout is not None:
            self._timers[caller] = loop.call_later(caller.call.timeout, self._expire, caller)
        if self._task is None:
            self._task = self._tasks.create_task(self._run(), name=f"link {self.sandbox}")

    def close(self, caller: UpstreamCaller) -> None:
        """End the call: its client has disconnected, or its channel is closed."""
        self._stop_waiting(caller)
        if self._callers.get(caller.link_ch) is caller:
            del self._callers[caller.link_ch]
        caller.abandon()

    @property
    def ready(self) -> bool:
        """Whether there is a link now."""
        return self._link is not None

    @property
    def channels(self) -> int:
        """The number of open calls."""
        return len(self._callers)

    @property
    def congested(self) -> bool:
        return self._link is not None and self._link.connection.pending > CONGESTED

    def when_drained(self, callback: Callable[[], None]) -> None:
        """Call `callback` once, when the link takes bytes again or is lost."""
        self._drained[callback] = None

    def stop(self) -> None:
        self._link = None  # so that its loss is not reported
        if self._task is not None:
            self._task.cancel()

    # ---- for the link

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        match event:
            case Data():
                if caller := self._callers.get(event.ch):
                    caller.receive_data(event)
            case Event():
                if caller := self._callers.get(event.ch):
                    caller.receive_message(event)
            case Result() | Error(ch=int()):
                if caller := self._callers.pop(event.ch or 0, None):
                    self._stop_timer(caller)
                    caller.receive_message(event)
            case Credit():
                if caller := self._callers.get(event.ch):
                    caller.receive_credit(event)
            case Error():
                self._log.warning("! runtime %s: %s: %s", self.sandbox, event.code, event.message)
            case Goaway():
                link.close()

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        if link is not self._link:
            return
        self._link = None
        callers, self._callers = self._callers, {}
        self._log.warning("! link %s lost with %d open calls: %s", self.sandbox, len(callers), error or "closed")
        for caller in callers.values():
            self._stop_timer(caller)
            caller.fail(HawseError("interrupted", "the connection to the sandbox was lost", admitted="unknown"))
        self.link_drained()

    def link_drained(self) -> None:
        drained, self._drained = self._drained, {}
        for callback in drained:
            callback()

    # ---- the task

    async def _run(self) -> None:
        """Connect, start the waiting calls, and watch the link until it is lost; repeat while calls wait."""
        try:
            while self._waiting:
                link = await self._connect()
                self._link = link
                self._log.info("= link %s ready", self.sandbox)
                try:
                    self._start_waiting(link)
                    await watch(link)
                finally:
                    link.abort()
        except HawseError as error:
            if error.code != "not_found":  # any client may ask for a sandbox that does not exist
                self._log.warning("! sandbox %s: %s", self.sandbox, error)
            self._refuse(error)
        except Exception:  # a bug here ends this attempt, not the gateway
            self._log.exception("! link %s", self.sandbox)
            self._refuse(HawseError("internal"))
        finally:
            self._task = None

    async def _connect(self) -> RuntimeLink:
        """Raises `HawseError` when there is no link after a few attempts or `CONNECT_TIMEOUT`."""
        delays = list(RETRY_DELAYS)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                while True:
                    try:
                        return await self._connect_once(self)
                    except (OSError, RemoteProtocolError) as error:
                        if not delays:
                            raise HawseError(
                                "unavailable", f"the runtime does not accept connections: {error}"
                            ) from error
                    await asyncio.sleep(delays.pop(0))
        except TimeoutError:
            raise HawseError("unavailable", f"the runtime did not answer within {CONNECT_TIMEOUT:g} s") from None

    # ---- waiting calls

    def _start(self, caller: UpstreamCaller, link: RuntimeLink, waited: float) -> None:
        try:
            check_link(caller.principal, link.abilities)
            number = caller.start(link, waited)
        except HawseError as error:
            caller.fail(error)
        except LocalProtocolError:  # a bug here ends this call, not the link of all others
            self._log.exception("! link %s", self.sandbox)
            caller.fail(HawseError("internal"))
        else:
            self._callers[number] = caller
            if (timeout := caller.call.timeout) is not None:
                delay = max(timeout - waited, 0.0) + OVERDUE
                self._timers[caller] = asyncio.get_running_loop().call_later(delay, self._abandon_overdue, caller)
            if number == CHANNEL_MAX:
                link.abort(ConnectionResetError("the channel numbers are used up"))

    def _start_waiting(self, link: RuntimeLink) -> None:
        now = asyncio.get_running_loop().time()
        for caller, since in list(self._waiting.items()):
            self._stop_waiting(caller)
            self._start(caller, link, max(now - since, 0.0))

    def _expire(self, caller: UpstreamCaller) -> None:
        self._stop_waiting(caller)
        caller.fail(HawseError("deadline_exceeded", "the sandbox did not start in time"))

    def _abandon_overdue(self, caller: UpstreamCaller) -> None:
        """End a call that the runtime has neither answered nor ended at its deadline: it may be stuck."""
        self._timers.pop(caller)
        if self._link is not None and self._callers.pop(caller.link_ch, None) is not None:
            self._link.connection.cancel(caller.link_ch)
            self._link.flush()
            caller.fail(HawseError("deadline_exceeded", "the runtime did not answer in time", admitted="unknown"))

    def _stop_waiting(self, caller: UpstreamCaller) -> None:
        self._waiting.pop(caller, None)
        self._stop_timer(caller)

    def _stop_timer(self, caller: UpstreamCaller) -> None:
        if timer := self._timers.pop(caller, None):
            timer.cancel()

    def _refuse(self, error: HawseError) -> None:
        for caller in list(self._waiting):
            self._stop_waiting(caller)
            caller.fail(error)


class Links:
    """The links of all sandboxes, and the link to the gateway's own methods.

    The gateway serves its own methods to itself over a socket pair, so that a call of either kind is forwarded in the
    same way: with a key, a deadline, events, bytes and credit.
    """

    def __init__(self, provider: Provider, tasks: asyncio.TaskGroup, methods: Iterable[object] = ()) -> None:
        """Create the table, without links.

        Args:
            provider: Starts sandboxes and knows their endpoints.
            tasks: The parent of all tasks of the links, and of the gateway's own calls.
            methods: Objects whose handlers (`hawse.rpc.handles`, `serves`) are the gateway's own methods.
        """
        self._provider = provider
        self._tasks = tasks
        # A `SandboxLink` lives as long as its task or one of its calls: a name that a client made up costs nothing.
        self._links: WeakValueDictionary[str, SandboxLink] = WeakValueDictionary()
        self._running: set[asyncio.Task[None]] = set()  # calls of the gateway's own methods
        self.dispatcher = Dispatcher(self._start, IdempotencyTable())
        for part in methods:
            self.dispatcher.add(part)
        self._server = Server(self.dispatcher, name="hawse-gateway")
        self.gateway = SandboxLink("gateway", partial(dial_server, self._server.accept), tasks)

    def get(self, sandbox: str | None) -> SandboxLink:
        """Return the link of a sandbox, or of the gateway itself for None.

        Whether the provider knows the sandbox is checked when a call needs the link.
        """
        if sandbox is None:
            return self.gateway
        link = self._links.get(sandbox)
        if link is None:
            link = self._links[sandbox] = SandboxLink(sandbox, partial(self._dial, sandbox), self._tasks)
        return link

    def ready(self) -> list[SandboxLink]:
        """Return the links to sandboxes that are connected now. None is connected for it."""
        return [link for link in self._links.values() if link.ready]

    def stop(self) -> None:
        for link in [self.gateway, *self._links.values()]:
            link.stop()
        self._server.close()
        for task in self._running:
            task.cancel()

    async def _dial(self, sandbox: str, owner: LinkOwner) -> RuntimeLink:
        return await dial(await self._provider.ensure(sandbox), owner)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._tasks.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task
