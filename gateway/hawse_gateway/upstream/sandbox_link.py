"""The link to a sandbox's runtime. The first call connects it, and all clients share it.

If the link is lost, its calls fail with `interrupted`, and the next call reconnects it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

from hawse.api import METHODS, Params
from hawse.api.sandboxes import STARTING, SandboxStarting
from hawse.link.stream_link import StreamLink
from hawse.weakref_support import supports_weakref
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
from hawse.wire.messages import CHANNEL_MAX, to_raw
from hawse_gateway.auth.call_check import Owns, check_call, owns_nothing
from hawse_gateway.auth.principals import check_link
from hawse_gateway.core.context import CallContext
from hawse_gateway.limits.calls import CallLimits
from hawse_gateway.providers.base import Progress
from hawse_gateway.upstream.dial import RuntimeLink, watch
from hawse_gateway.upstream.gateway_call import GatewayCall
from hawse_gateway.upstream.observer import CallObserver, Unobserved

log = logging.getLogger(__name__)

RETRY_DELAYS = (0.05, 0.2, 0.5)  # seconds before each retry while a runtime is starting or ending
# The runtime ends calls that time out. If it doesn't, the gateway ends them this many seconds after the timeout.
OVERDUE = 0.5
CONGESTED: Final = 1 << 20  # maximum bytes of unwritten control messages; above it, nothing is read from clients


REQUEST_TIMEOUT: Final = 10.0  # timeout for the gateway's own calls, in seconds


# Makes one attempt to connect. Returns None if the sandbox is not running and none of the waiting calls can start it.
Connect = Callable[["SandboxLink"], Awaitable[RuntimeLink | None]]


class UpstreamCaller(Protocol):
    """A call on a link: either a client's `ChannelBridge`, or the gateway's own `UpstreamCall` or `GatewayCall`."""

    call: Call
    principal: Principal
    context: CallContext
    link_ch: int

    def start(self, link: RuntimeLink, waited: float = 0.0) -> int: ...

    def receive_data(self, data: Data) -> None: ...

    def receive_message(self, message: Event | Result | Error) -> None: ...

    def receive_progress(self, event: Event) -> None:
        """Handle a progress event from the gateway while the call waits for its sandbox."""

    def receive_credit(self, credit: Credit) -> None: ...

    def fail(self, error: HawseError) -> None: ...

    def abandon(self) -> None: ...


@supports_weakref
class SandboxLink:
    """Connects to a sandbox, and dispatches received messages to the calls on the link."""

    def __init__(
        self,
        sandbox: str,
        connect: Connect,
        tasks: asyncio.TaskGroup,
        *,
        gateway: bool = False,
        observer: CallObserver | None = None,
        owns: Owns = owns_nothing,
        limits: CallLimits | None = None,
    ) -> None:
        """Create a link. The first call connects it.

        Args:
            sandbox: The sandbox's id, for the log.
            connect: Makes one attempt to connect.
            tasks: The task group for the task that connects and watches the link.
            gateway: Whether this is the link to the gateway's own methods.
            observer: Notified of all calls.
            owns: Returns whether a caller owns a sandbox.
            limits: Limits each user's calls. It must also be notified as an observer. None disables the limits.
        """
        self._limits = limits
        self._observer = observer or Unobserved()
        self._owns = owns
        self._own_methods = gateway
        self.sandbox = sandbox
        self._connect_once = connect
        self._tasks = tasks
        self._task: asyncio.Task[None] | None = None  # connects and watches the link; None while not needed
        self.link: RuntimeLink | None = None  # only set while the link accepts calls
        self._callers: dict[int, UpstreamCaller] = {}  # calls, keyed by their channel number on the link
        self._changed = False  # whether `retry` has been called since the last attempt to connect
        self._waiting: dict[UpstreamCaller, float] = {}  # waiting calls, each with the time when it started to wait
        self._timers: dict[UpstreamCaller, asyncio.TimerHandle] = {}  # timers for calls with a timeout
        self._drained: dict[Callable[[], None], None] = {}  # callbacks, in order of registration
        self._log = logging.LoggerAdapter(log, {"sandbox": sandbox})

    # ---- for callers

    def open(self, caller: UpstreamCaller) -> None:
        """Start a call once the link is connected.

        The call fails with `forbidden` if its principal isn't allowed to make it, or with `not_found` if the sandbox
        does not exist or the principal has no permissions for it.
        """
        place = None if self._own_methods else self.sandbox
        try:
            if self._limits is not None:
                self._limits.count(caller)
            caller.principal = check_call(caller.principal, caller.call, place, self._owns)
            if self._limits is not None:
                self._limits.admit(caller)
        except HawseError as error:
            self._observer.refused(caller, place, error)
            caller.fail(error)
            return
        self._observer.began(caller, place)
        if self.link is not None:
            self._start(caller, self.link, 0.0)
            return
        loop = asyncio.get_running_loop()
        self._waiting[caller] = loop.time()
        if caller.call.timeout is not None:
            self._timers[caller] = loop.call_later(caller.call.timeout, self._expire, caller)
        if self._task is None:
            self._task = self._tasks.create_task(self._run(), name=f"link {self.sandbox}")

    def close(self, caller: UpstreamCaller, *, cancel: bool = True) -> None:
        """End a call because its client has disconnected or its channel is closed.

        Args:
            caller: The call.
            cancel: Whether to send a cancellation to the runtime. False when the gateway shuts down: the runtime then
                cancels the call itself when it loses the link, so it can tell a shutdown from a client's disconnect.
        """
        self._stop_waiting(caller)
        if self._callers.get(caller.link_ch) is caller:
            del self._callers[caller.link_ch]
        self._observer.ended(caller, "cancelled" if cancel else "interrupted")
        if cancel:
            caller.abandon()

    @property
    def ready(self) -> bool:
        """Whether the link is connected."""
        return self.link is not None

    @property
    def channels(self) -> int:
        """The number of open calls."""
        return len(self._callers)

    @property
    def congested(self) -> bool:
        return self.link is not None and self.link.connection.pending > CONGESTED

    def when_drained(self, callback: Callable[[], None]) -> None:
        """Call `callback` a single time, when the link is ready for more bytes or is lost."""
        self._drained[callback] = None

    def stop(self) -> None:
        self.link = None  # cleared first, so that the loss of the link is not reported
        if self._task is not None:
            self._task.cancel()

    def report(self, progress: Progress) -> None:
        """Report the progress of a start to the waiting calls."""
        value = SandboxStarting(phase=progress.phase, message=progress.message, progress=progress.done)
        for caller in list(self._waiting):
            caller.receive_progress(Event(ch=caller.call.ch, name=STARTING, value=to_raw(value)))

    async def request(self, params: Params[Any], link: RuntimeLink | None = None) -> None:
        """Make one of the gateway's own calls, and wait until it succeeds.

        Args:
            params: The method and its parameters.
            link: A new link that does not accept other calls yet. Defaults to the current link. Has no
                effect if there is no link.

        Raises:
            HawseError: The call's error, or `unavailable` if there is no response.
        """
        link = link or self.link
        if link is None:
            return
        call = GatewayCall(params)
        self._callers[call.start(link)] = call
        lost = self._tasks.create_task(link.lost.wait())
        try:
            both: list[asyncio.Future[Any]] = [call.done, lost]
            await asyncio.wait(both, timeout=REQUEST_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
            if not call.done.done():
                raise HawseError("unavailable", f"the runtime did not answer {call.call.method}")
            call.done.result()
        finally:
            lost.cancel()
            self._callers.pop(call.link_ch, None)

    @property
    def starts(self) -> bool:
        """Whether any waiting call can start a sleeping sandbox. Calls that only watch a stream can't."""
        return any(not _passive(caller.call) for caller in self._waiting)

    def retry(self) -> None:
        """If a call is waiting, connect, because another gateway or `sandbox.start` may have started the sandbox."""
        if not self._waiting or self.link is not None:
            return
        self._changed = True
        if self._task is None:
            self._task = self._tasks.create_task(self._run(), name=f"link {self.sandbox}")

    def drop(self) -> None:
        """Close the link, because the runtime is about to be stopped. The next call reconnects."""
        if self.link is not None:
            self.link.close()

    # ---- called by the link

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
                    if isinstance(event, Error):
                        self._observer.ended(caller, event.code)
                    else:
                        self._observer.ended(caller, "ok", event)
                    caller.receive_message(event)
            case Credit():
                if caller := self._callers.get(event.ch):
                    caller.receive_credit(event)
            case Error():
                self._log.warning("! runtime %s: %s: %s", self.sandbox, event.code, event.message)
            case Goaway():
                link.close()

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        if link is not self.link:
            return
        self.link = None
        callers, self._callers = self._callers, {}
        # Losing a link is only worth a warning if it is unexpected. It is expected if another gateway has stopped or
        # deleted the sandbox.
        level = logging.INFO if error is None and not callers else logging.WARNING
        self._log.log(level, "! link %s lost with %d open calls: %s", self.sandbox, len(callers), error or "closed")
        for caller in callers.values():
            self._stop_timer(caller)
            self._fail(caller, HawseError("interrupted", "the connection to the sandbox was lost", admitted="unknown"))
        self.link_drained()

    def link_drained(self) -> None:
        drained, self._drained = self._drained, {}
        for callback in drained:
            callback()

    # ---- the task

    async def _run(self) -> None:
        """Connect, start the waiting calls, and watch the link until it is lost. Repeat this as long as calls are
        waiting."""
        try:
            while self._waiting:
                self._changed = False
                link = await self._connect()
                if link is None:
                    if self.starts or self._changed:
                        continue  # a call arrived or `retry` was called during the attempt
                    return  # calls that only watch keep waiting until the sandbox starts
                self.link = link
                self._log.info("= link %s ready", self.sandbox)
                try:
                    self._start_waiting(link)
                    await watch(link)
                finally:
                    link.abort()
        except HawseError as error:
            if error.code != "not_found":  # `not_found` isn't logged, since clients can request unknown sandboxes
                self._log.warning("! sandbox %s: %s", self.sandbox, error)
            self._refuse(error)
        except Exception:  # a bug must only end this attempt, not the gateway
            self._log.exception("! link %s", self.sandbox)
            self._refuse(HawseError("internal"))
        finally:
            self._task = None

    async def _connect(self) -> RuntimeLink | None:
        """Connect to the runtime. Return None if the sandbox is asleep and no waiting call can start it. Raises
        `HawseError` after several attempts."""
        delays = list(RETRY_DELAYS)
        while True:
            try:
                return await self._connect_once(self)
            except (OSError, RemoteProtocolError) as error:
                if not delays:
                    raise HawseError("unavailable", f"the runtime does not accept connections: {error}") from error
            await asyncio.sleep(delays.pop(0))

    # ---- waiting calls

    def _start(self, caller: UpstreamCaller, link: RuntimeLink, waited: float) -> None:
        try:
            check_link(caller.principal, link.abilities)
            number = caller.start(link, waited)
        except HawseError as error:
            self._fail(caller, error)
        except LocalProtocolError:  # a bug must only end this call, not the shared link
            self._log.exception("! link %s", self.sandbox)
            self._fail(caller, HawseError("internal"))
        else:
            self._callers[number] = caller
            if (timeout := caller.call.timeout) is not None:
                delay = max(timeout - waited, 0.0) + OVERDUE
                self._timers[caller] = asyncio.get_running_loop().call_later(delay, self._abandon_overdue, caller)
            if number == CHANNEL_MAX:
                link.abort(ConnectionResetError("the link has used up its channel numbers"))

    def _start_waiting(self, link: RuntimeLink) -> None:
        now = asyncio.get_running_loop().time()
        for caller, since in list(self._waiting.items()):
            self._stop_waiting(caller)
            self._start(caller, link, max(now - since, 0.0))

    def _expire(self, caller: UpstreamCaller) -> None:
        self._stop_waiting(caller)
        self._fail(caller, HawseError("deadline_exceeded", "the sandbox did not start in time"))

    def _abandon_overdue(self, caller: UpstreamCaller) -> None:
        """End a call if the runtime has not ended it by the call's deadline, because the runtime may be stuck."""
        self._timers.pop(caller)
        if self.link is not None and self._callers.pop(caller.link_ch, None) is not None:
            self.link.connection.cancel(caller.link_ch)
            self.link.flush()
            error = HawseError("deadline_exceeded", "the runtime did not answer in time", admitted="unknown")
            self._fail(caller, error)

    def _stop_waiting(self, caller: UpstreamCaller) -> None:
        self._waiting.pop(caller, None)
        self._stop_timer(caller)

    def _stop_timer(self, caller: UpstreamCaller) -> None:
        if timer := self._timers.pop(caller, None):
            timer.cancel()

    def _refuse(self, error: HawseError) -> None:
        for caller in list(self._waiting):
            self._stop_waiting(caller)
            self._fail(caller, error)

    def _fail(self, caller: UpstreamCaller, error: HawseError) -> None:
        self._observer.ended(caller, error.code)
        caller.fail(error)


def _passive(call: Call) -> bool:
    """Return whether a call only watches a stream that has no events while the sandbox is asleep."""
    spec = METHODS.get(call.method)
    return spec is not None and spec.passive and spec.stream
