"""`connect`: the way in. A client is one WebSocket that is kept, and all the calls that go over it."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any

from hawse.client.base.options import Options
from hawse.client.base.results import ConnectionState
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable
from hawse.client.connection.dial import address, base, token_in
from hawse.client.connection.reconnect import Reconnector, Token
from hawse.client.sandbox import Sandbox
from hawse.wire import Welcome

RAW_WINDOW = 64 * 1024  # bytes of events that a raw call may be sent ahead; they are dropped


class Client:
    """`async with connect(url, token=…) as hw:` connects; leaving it settles and closes everything."""

    def __init__(
        self,
        url: str,
        *,
        token: Token = None,
        options: Options | None = None,
        on_state: Callable[[ConnectionState], None] | None = None,
    ) -> None:
        self._uri = address(url)
        self._token = token if token is not None else token_in(url)
        self._options = options or Options()
        self._on_state = on_state
        self._group: asyncio.TaskGroup | None = None
        self._task: asyncio.Task[None] | None = None
        self._calls: CallTable
        self._supervisor: Reconnector

    async def __aenter__(self) -> "Client":
        if self._group is not None:
            raise RuntimeError("a client is entered once")
        self._calls = CallTable(self._options)
        self._supervisor = Reconnector(self._uri, self._token, self._options, self._calls)
        self._supervisor.on_state = self._on_state
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        self._task = self._group.create_task(self._supervisor.run(), name="hawse client")
        try:
            await self._supervisor.connected()
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._group is not None
        assert self._task is not None
        self._supervisor.close()
        self._task.cancel()
        # A task group wraps what its body raises; what the caller raised is to come out as it was. A cancellation
        # it has to see: it may be its own, because of a bug in the supervisor.
        if kind is not None and issubclass(kind, asyncio.CancelledError):
            await self._group.__aexit__(kind, error, trace)
        else:
            await self._group.__aexit__(None, None, None)

    def sandbox(self, id: str = "local") -> Sandbox:
        """A handle; nothing is sent."""
        return Sandbox(self._calls, id, window=self._options.window, gateway=base(self._uri))

    async def call(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        sandbox: str | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Call any method and return its result's value (JSON). Without `sandbox` the gateway itself answers.

        With a `key` it runs once, and is repeated when a line is lost; without one it then ends with
        `interrupted`. Without a line it waits for one, at most the connect timeout. `timeout` in seconds.
        Raises `HawseError`.
        """
        call = ClientCall(method, params, sandbox=sandbox, key=key, timeout=timeout, window=RAW_WINDOW)
        return await self._calls.perform(call)

    @property
    def state(self) -> ConnectionState:
        return self._supervisor.state

    @property
    def rtt(self) -> float | None:
        """The latest round trip in seconds; None until the first is measured."""
        return self._supervisor.rtt

    @property
    def welcome(self) -> Welcome | None:
        """What the server said of itself: `identity`, `role`, `limits`, `abilities`."""
        return self._supervisor.welcome

    @property
    def lines(self) -> int:
        """How many connections there were so far: 1 if none was lost."""
        return self._supervisor.lines

    def states(self) -> "States":
        """Iterate over the state now and its changes; one that did not last until you looked is left out.

        Ends after `CLOSED`.
        """
        return States(self._supervisor)


class States:
    """An async iterator over the states of one client."""

    def __init__(self, supervisor: Reconnector) -> None:
        self._supervisor = supervisor
        self._seen: ConnectionState | None = None

    def __aiter__(self) -> "States":
        return self

    async def __anext__(self) -> ConnectionState:
        if self._seen is ConnectionState.CLOSED:
            raise StopAsyncIteration
        self._seen = await self._supervisor.changed_from(self._seen)
        return self._seen


def connect(
    url: str,
    *,
    token: Token = None,
    options: Options | None = None,
    on_state: Callable[[ConnectionState], None] | None = None,
) -> Client:
    """A client for the gateway at `url` (`http(s)://` or `ws(s)://host[:port]`), to be entered with `async with`.

    `token`: a string, or an async function that gets a fresh one for each attempt; without
    it, the one in the address that `hawse serve` prints (`…/#token=…`). `on_state` is called from the
    event loop. Raises `ValueError` for a wrong address; entering raises `RefusedError` or `GaveUpError`.
    """
    return Client(url, token=token, options=options, on_state=on_state)
