"""Maintains a connection: dials, runs it and, if it is lost, waits and redials unless that would be pointless.

It runs in a single task owned by `Client`. It notifies `CallTable` when a connection is established or lost, and
settles all calls at the end.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable

from hawse.client.base.backoff import Backoff
from hawse.client.base.errors import ClientClosedError, GaveUpError, RefusedError, fresh
from hawse.client.base.options import Options
from hawse.client.base.results import ConnectionState
from hawse.client.calls.call_table import CallTable
from hawse.client.connection.connection import ConnectionEnd, GatewayConnection
from hawse.client.connection.dial import DialError, dial
from hawse.wire import Data, Goaway, HawseError, Message, Welcome

log = logging.getLogger(__name__)

Token = str | Callable[[], Awaitable[str]] | None

NOT_CONNECTED = "no connection: "


class Reconnector:
    """Keeps a client connected, in a single task. Its attributes can be read at any time."""

    def __init__(
        self, uri: str, token: Token, options: Options, calls: CallTable, tls: ssl.SSLContext | None = None
    ) -> None:
        """Prepare a connection; `run` establishes it.

        Args:
            uri: The WebSocket URL, from `address`.
            token: The bearer token, or a function that returns a fresh token for each attempt.
            options: Timeouts and delays.
            calls: The table to notify when a connection is established or lost.
            tls: The same as in `dial`.
        """
        self.state = ConnectionState.CONNECTING
        self.welcome: Welcome | None = None  # the last connection's `welcome`
        self.connections = 0  # the number of connections so far
        self.on_state: Callable[[ConnectionState], None] | None = None
        self._uri = uri
        self._token = token
        self._tls = tls
        self._options = options
        self._calls = calls
        self._connection: GatewayConnection | None = None
        self._changed = asyncio.Event()
        self._final: HawseError | None = None  # the error that closed the client permanently
        self.problem: str | None = None  # why the last attempt failed or the connection was lost

    @property
    def rtt(self) -> float | None:
        """The last round-trip time in seconds; None until one has been measured."""
        return self._connection.rtt if self._connection else None

    async def run(self) -> None:
        """Connect and reconnect until `close` is called, the server refuses, or too much time has passed without a
        connection.
        """
        options = self._options
        backoff = Backoff(base=options.backoff_base, cap=options.backoff_cap, dice=options.dice)
        down_since = options.clock()
        try:
            while True:
                self._enter(ConnectionState.CONNECTING)
                began = options.clock()
                ending = await self._connect_once()
                now = options.clock()
                if self.connections and self.state is ConnectionState.OPEN:
                    down_since = now
                    if now - began >= options.stable:
                        backoff.reset()
                self.problem = ending.reason
                log.info("= %s", ending.reason)
                if ending.final:
                    raise ending.final
                self._calls.disconnected()
                patience = None if self.connections else options.first_give_up
                if patience is not None and now - down_since >= patience:
                    raise GaveUpError(ending.reason.removeprefix(NOT_CONNECTED))
                if options.give_up is not None and now - down_since >= options.give_up:
                    raise GaveUpError(f"no connection for {options.give_up} s: {ending.reason}")
                self._enter(ConnectionState.WAITING)
                delay = backoff.next()
                await options.sleep(delay if ending.retry_after is None else ending.retry_after)
        except HawseError as error:
            self._close(error)
        finally:
            self.close()

    def close(self) -> None:
        """Settle all calls. The caller must also cancel the task that runs `run`."""
        self._close(ClientClosedError("the client was closed"))

    async def connected(self) -> None:
        """Wait for the first connection. Raises `RefusedError`, or `GaveUpError` after the connect timeout."""
        try:
            async with asyncio.timeout(self._options.connect_timeout):
                while self.state not in (ConnectionState.OPEN, ConnectionState.CLOSED):
                    await self._changed.wait()
        except TimeoutError:
            problem = (self.problem or "the gateway has not answered").removeprefix(NOT_CONNECTED)
            raise GaveUpError(f"no connection within {self._options.connect_timeout:g} s: {problem}") from None
        if self._final:
            raise fresh(self._final)

    async def changed_from(self, seen: ConnectionState | None) -> ConnectionState:
        """Wait until the state differs from `seen`, and return it."""
        while self.state is seen:
            await self._changed.wait()
        return self.state

    async def _connect_once(self) -> ConnectionEnd:
        options = self._options
        try:
            async with asyncio.timeout(options.connect_timeout):
                token = await self._get_token()
                websocket = await dial(self._uri, token=token, timeout=options.connect_timeout, tls=self._tls)
        except RefusedError as error:
            return ConnectionEnd(str(error), final=error)
        except (DialError, TimeoutError) as error:
            return ConnectionEnd(f"{NOT_CONNECTED}{error}")
        async with websocket:
            connection = GatewayConnection(websocket, self._receive)
            try:
                async with asyncio.timeout(options.connect_timeout):
                    ending = await connection.handshake()
            except TimeoutError:
                return ConnectionEnd(f"the gateway sent no `welcome` within {options.connect_timeout} s")
            if ending:
                return ending
            self.welcome, self._connection = connection.welcome, connection
            self.connections += 1
            self._enter(ConnectionState.OPEN)
            self._calls.connected(connection)
            return await connection.run(ping_interval=options.ping_interval, sleep=options.sleep)

    async def _get_token(self) -> str | None:
        if not callable(self._token):
            return self._token
        try:
            token: object = await self._token()
        except Exception as error:
            log.warning("! the token function failed", exc_info=True)
            raise DialError(f"the token function failed: {error}") from error
        if not (token is None or isinstance(token, str)):
            text = f"the token function returned a value of type {type(token).__name__} instead of a string"
            log.warning("! %s", text)
            raise DialError(text)
        return token

    def _receive(self, event: Message | Data) -> None:
        if isinstance(event, Goaway):
            self._calls.draining()
        else:
            self._calls.receive(event)

    def _close(self, error: HawseError) -> None:
        if self._final is None:
            self._final = error
            self._calls.close(error)
            self._enter(ConnectionState.CLOSED)

    def _enter(self, state: ConnectionState) -> None:
        self.state = state
        self._changed.set()
        self._changed = asyncio.Event()
        if self.on_state:
            self.on_state(state)
