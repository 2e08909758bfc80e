"""Accepts links, checks their `hello`, and passes their calls to the dispatcher."""

import asyncio
import hmac
import logging
from contextlib import ExitStack
from typing import Final

from hawse.link.keystrokes import Keystrokes
from hawse.link.stream_link import StreamLink
from hawse.logs import TRACE
from hawse.rpc import Dispatcher, typed
from hawse.rpc.call import ServerCall
from hawse.rpc.server_limits import ServerLimits
from hawse.rpc.shares import Shares
from hawse.wire import (
    Call as CallMessage,
    Cancel,
    Connection,
    Credit,
    Data,
    End,
    HawseError,
    Hello,
    Message,
    Role,
)
from hawse.wire.messages import ABILITY_PRINCIPALS

log = logging.getLogger(__name__)

PINGS: Final = 4  # number of pings sent during the time that a link is allowed to be silent


class Server:
    """Serves any number of links with one dispatcher. `accept` is the protocol factory."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        name: str,
        token: str | None = None,
        outside_only: bool = False,
        limits: ServerLimits = ServerLimits(),
        keystrokes: Keystrokes | None = None,
    ) -> None:
        """Create a server without links.

        Args:
            dispatcher: Runs the calls.
            name: The server's name in `welcome`.
            token: The token that `hello` must contain; None if only the gateway can connect to the socket.
            outside_only: Whether to refuse processes in this PID namespace and its descendants.
            limits: The limits for its links.
            keystrokes: Tracks the input from all links.
        """
        self.dispatcher = dispatcher
        self._keystrokes = keystrokes or Keystrokes()
        self._limits = limits
        self._name = name
        self._token = token
        self._outside_only = outside_only
        self._shares = Shares(limits.calls, "calls")
        self._calls: dict[StreamLink, dict[int, ServerCall]] = {}
        self._timers: dict[StreamLink, asyncio.TimerHandle] = {}  # timer for `hello`, and later for the next ping

    @property
    def links(self) -> list[StreamLink]:
        """The open links."""
        return list(self._calls)

    def accept(self) -> StreamLink:
        """Return the protocol for a new link. This is the factory for `create_unix_server`."""
        link = StreamLink(Connection(Role.SERVER, self._limits.wire), self, keystrokes=self._keystrokes)
        loop = asyncio.get_running_loop()
        self._calls[link] = {}
        self._timers[link] = loop.call_later(
            self._limits.wire.hello_timeout, _refuse, link, HawseError("hello_timeout", "no `hello` in time")
        )
        if len(self._calls) > self._limits.links:
            _refuse(link, HawseError("limit_exceeded", f"link limit reached: {self._limits.links} links are open"))
        return link

    def close(self) -> None:
        """Close every link."""
        for link in self.links:
            link.close()

    # ---- Receiver

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        calls = self._calls[link]
        match event:
            case Data():
                self._keystrokes.note(len(event.payload))
                self._input(calls.get(event.ch), event.offset, memoryview(event.payload))
            case Credit(ch=ch):
                link.writer.wake(ch)
            case CallMessage():
                call = ServerCall(link, event)
                calls[event.ch] = call
                call.on_finish = lambda ch: calls.pop(ch, None)
                self._dispatch(call)
            case Cancel(ch=ch):
                if ch in calls:
                    calls[ch].error(HawseError("cancelled", "cancelled by the client", admitted="yes"))
            case End(ch=ch):
                self._end(calls.get(ch))
            case Hello():
                self._welcome(link, event)

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        if error is not None or link.connection.ready:  # probes, which just connect and close, aren't logged
            log.info("< link lost: %s", error or "closed by the other end")
        self._timers.pop(link).cancel()
        for call in list(self._calls.pop(link).values()):
            call.finish()

    # ---- inside

    def _welcome(self, link: StreamLink, hello: Hello) -> None:
        self._timers[link].cancel()
        if self._token is not None and not hmac.compare_digest((hello.token or "").encode(), self._token.encode()):
            _refuse(link, HawseError("unauthenticated", "the token in `hello` is missing or wrong"))
            return
        peer = link.peer
        if self._outside_only and (peer is None or peer.pid != 0):
            _refuse(link, HawseError("unauthenticated", "programs inside the sandbox cannot connect to its runtime"))
            return
        log.info("> welcome, %s", hello.client)
        link.connection.send_welcome(self._name, identity=hello.client, role="gateway", abilities=[ABILITY_PRINCIPALS])
        if peer is None:  # over TCP, the peer can disappear silently
            self._ping(link, link.received)

    def _ping(self, link: StreamLink, received: int, left: int = PINGS) -> None:
        """Ping a link repeatedly, and drop it if nothing has been received during the last `PINGS` pings.

        Args:
            link: The link.
            received: The number of bytes received up to the previous ping.
            left: The number of further pings that may go unanswered.
        """
        if link.received != received:
            left = PINGS
        if not left:
            link.abort(TimeoutError(f"the other end of the link sent nothing for {self._limits.silence:g} s"))
            return
        link.connection.ping(0.0)
        link.flush()
        pause = self._limits.silence / PINGS
        loop = asyncio.get_running_loop()
        self._timers[link] = loop.call_later(pause, self._ping, link, link.received, left - 1)

    def _dispatch(self, call: ServerCall) -> None:
        held = ExitStack()
        try:
            held.enter_context(self._shares.hold(call.principal))
        except HawseError as error:
            call.error(error)
        else:
            call.on_close(held.close)
            mark = TRACE.set(call.trace)  # the handler's task inherits the trace
            try:
                self.dispatcher.dispatch(call)
            finally:
                TRACE.reset(mark)

    def _input(self, call: ServerCall | None, offset: int, payload: memoryview) -> None:
        if call is None:
            return
        try:
            if call.stream is None:
                raise HawseError("protocol_error", f"{call.method} takes no input")
            call.stream.receive_input(offset, payload)
        except Exception as error:
            call.error(typed(error))

    def _end(self, call: ServerCall | None) -> None:
        if call is None or call.stream is None:
            return
        try:
            call.stream.receive_end()
        except Exception as error:
            call.error(typed(error))


def _refuse(link: StreamLink, error: HawseError) -> None:
    link.connection.send_connection_error(error)
    link.close()
