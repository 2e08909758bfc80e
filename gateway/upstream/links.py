"""The links: one to each sandbox's runtime, made when the first call needs it and shared by all clients.

A link that is lost ends the calls on it with `interrupted`; the next call makes a new one.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol

from gateway.auth.principals import check_link
from gateway.providers.base import Provider
from gateway.upstream.dial import RuntimeLink, dial, watch
from hawse.link import StreamLink
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

CONNECT_TIMEOUT: Final = 10.0  # s a call waits for its runtime
RETRY_DELAYS: Final = (0.05, 0.2, 0.5)  # s between attempts of one connect: a runtime that is just coming or going
CONGESTED: Final = 1 << 20  # bytes of control that wait to be written, above which clients are not read from


class UpstreamCaller(Protocol):
    """Who makes a call on a link: a client's `Bridge`, or a `Request` of the gateway itself."""

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
    """The way to one sandbox: what comes on its link is handed to the bridge of its channel."""

    def __init__(self, sandbox: str, provider: Provider, tasks: asyncio.TaskGroup) -> None:
        self.sandbox = sandbox
        self._provider = provider
        self._tasks = tasks
        self._task: asyncio.Task[None] | None = None  # connects, then watches the link; None: there is none
        self._link: RuntimeLink | None = None  # while it is ready for calls
        self._bridges: dict[int, UpstreamCaller] = {}  # by the link's channel
        self._waiting: dict[UpstreamCaller, float] = {}  # until there is a link; with the time they came
        self._timers: dict[UpstreamCaller, asyncio.TimerHandle] = {}  # of those that wait and have a timeout
        self._drained: dict[Callable[[], None], None] = {}  # an ordered set
        self._log = logging.LoggerAdapter(log, {"sandbox": sandbox})

    # ---- for sessions

    def open(self, bridge: UpstreamCaller) -> None:
        """Make the bridge's call, now or when there is a link."""
        if self._link is not None:
            self._start(bridge, self._link, 0.0)
            return
        loop = asyncio.get_running_loop()
        self._waiting[bridge] = loop.time()
        if bridge.call.timeout is not None:
            self._timers[bridge] = loop.call_later(bridge.call.timeout, self._expire, bridge)
        if self._task is None:
            self._task = self._tasks.create_task(self._run(), name=f"link {self.sandbox}")

    def close(self, bridge: UpstreamCaller) -> None:
        """The bridge's client is gone, or has heard the last word."""
        self._stop_waiting(bridge)
        if self._bridges.get(bridge.link_ch) is bridge:
            del self._bridges[bridge.link_ch]
        bridge.abandon()

    @property
    def ready(self) -> bool:
        """There is a link now."""
        return self._link is not None

    @property
    def channels(self) -> int:
        """How many calls are on their way."""
        return len(self._bridges)

    @property
    def congested(self) -> bool:
        return self._link is not None and self._link.connection.pending > CONGESTED

    def when_drained(self, callback: Callable[[], None]) -> None:
        """Call back once, when the link takes bytes again or is gone."""
        self._drained[callback] = None

    def stop(self) -> None:
        self._link = None  # so that losing it is no news
        if self._task is not None:
            self._task.cancel()

    # ---- for the link

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        match event:
            case Data():
                if bridge := self._bridges.get(event.ch):
                    bridge.receive_data(event)
            case Event():
                if bridge := self._bridges.get(event.ch):
                    bridge.receive_message(event)
            case Result() | Error(ch=int()):
                if bridge := self._bridges.pop(event.ch or 0, None):
                    bridge.receive_message(event)
            case Credit():
                if bridge := self._bridges.get(event.ch):
                    bridge.receive_credit(event)
            case Error():
                self._log.warning("! runtime %s: %s: %s", self.sandbox, event.code, event.message)
            case Goaway():
                link.close()

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        if link is not self._link:
            return
        self._link = None
        bridges, self._bridges = self._bridges, {}
        self._log.warning("! link %s lost with %d open calls: %s", self.sandbox, len(bridges), error or "closed")
        for bridge in bridges.values():
            bridge.fail(HawseError("interrupted", "the line to the sandbox broke", admitted="unknown"))
        self.link_drained()

    def link_drained(self) -> None:
        drained, self._drained = self._drained, {}
        for callback in drained:
            callback()

    # ---- the task

    async def _run(self) -> None:
        """Connect, start who waits, and watch the link until it is lost; again while somebody waits."""
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
            self._log.warning("! sandbox %s: %s", self.sandbox, error)
            self._refuse(error)
        except Exception:  # a bug here: it ends this attempt, not the gateway
            self._log.exception("! link %s", self.sandbox)
            self._refuse(HawseError("internal"))
        finally:
            self._task = None

    async def _connect(self) -> RuntimeLink:
        """Raise `HawseError` when there is no link after a few attempts or `CONNECT_TIMEOUT`."""
        delays = list(RETRY_DELAYS)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                while True:
                    try:
                        return await dial(await self._provider.ensure(self.sandbox), self)
                    except (OSError, RemoteProtocolError) as error:
                        if not delays:
                            raise HawseError("unavailable", f"the runtime does not answer: {error}") from error
                    await asyncio.sleep(delays.pop(0))
        except TimeoutError:
            raise HawseError("unavailable", f"the runtime did not answer in {CONNECT_TIMEOUT:g} s") from None

    # ---- who waits

    def _start(self, bridge: UpstreamCaller, link: RuntimeLink, waited: float) -> None:
        try:
            check_link(bridge.principal, link.abilities)
            number = bridge.start(link, waited)
        except HawseError as error:
            bridge.fail(error)
        except LocalProtocolError:  # a bug here: it ends this call, not the link of all others
            self._log.exception("! link %s", self.sandbox)
            bridge.fail(HawseError("internal"))
        else:
            self._bridges[number] = bridge
            if number == CHANNEL_MAX:
                link.abort(ConnectionResetError("the channel numbers are used up"))

    def _start_waiting(self, link: RuntimeLink) -> None:
        now = asyncio.get_running_loop().time()
        for bridge, since in list(self._waiting.items()):
            self._stop_waiting(bridge)
            self._start(bridge, link, max(now - since, 0.0))

    def _expire(self, bridge: UpstreamCaller) -> None:
        self._stop_waiting(bridge)
        bridge.fail(HawseError("deadline_exceeded", "the sandbox was not ready in time"))

    def _stop_waiting(self, bridge: UpstreamCaller) -> None:
        self._waiting.pop(bridge, None)
        if timer := self._timers.pop(bridge, None):
            timer.cancel()

    def _refuse(self, error: HawseError) -> None:
        for bridge in list(self._waiting):
            self._stop_waiting(bridge)
            bridge.fail(error)


class Links:
    """The links of all sandboxes. Their tasks belong to the group it is given."""

    def __init__(self, provider: Provider, tasks: asyncio.TaskGroup) -> None:
        self._provider = provider
        self._tasks = tasks
        self._links: dict[str, SandboxLink] = {}

    def get(self, sandbox: str) -> SandboxLink:
        """Raises `HawseError` `not_found` for a sandbox that the provider does not know."""
        link = self._links.get(sandbox)
        if link is None:
            if not self._provider.knows(sandbox):
                raise HawseError("not_found", f"no sandbox {sandbox[:64]!r}")
            link = self._links[sandbox] = SandboxLink(sandbox, self._provider, self._tasks)
        return link

    def ready(self) -> list[SandboxLink]:
        """Those that there are now. Nothing is started for it."""
        return [link for link in self._links.values() if link.ready]

    def stop(self) -> None:
        for link in self._links.values():
            link.stop()
