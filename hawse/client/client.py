"""`connect` and `Client`: one WebSocket, which is re-established if it is lost, and the calls on it."""

import asyncio
from collections.abc import Callable, Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hawse.client.base.options import Options
from hawse.client.base.results import ConnectionState
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable
from hawse.client.config import from_environment
from hawse.client.connection.dial import Authorities, address, base, token_in, trust
from hawse.client.connection.reconnect import Reconnector, Token
from hawse.client.sandbox.sandbox import Sandbox
from hawse.wire import Welcome

if TYPE_CHECKING:  # loaded on first use, so that programs start fast
    from hawse.client.access import ShareLinks, Tokens
    from hawse.client.audit import AuditTrail
    from hawse.client.backups import Backups
    from hawse.client.images import Images
    from hawse.client.sandbox.sandboxes import Sandboxes

RAW_WINDOW = 64 * 1024  # bytes of events the server can send during a call by name; such calls ignore events
POSTED_TIMEOUT = 1.0  # seconds `close` waits for calls whose outcome is ignored, such as calls that end a command


class Client:
    """`async with connect(url, token=…) as hw:` connects. Leaving the block ends all calls and closes the connection.

    `hw = await connect(url, token=…)` connects until `close`, which must be called in the same task.
    """

    def __init__(
        self,
        url: str,
        *,
        token: Token = None,
        ca: Authorities = None,
        options: Options | None = None,
        on_state: Callable[[ConnectionState], None] | None = None,
    ) -> None:
        if not (token is None or isinstance(token, str) or callable(token)):
            raise TypeError(f"token must be a string or an async function, not {type(token).__name__}")
        self._uri = address(url)
        self._tls = trust(ca)
        self._token = token if token is not None else token_in(url)
        self._options = options or Options()
        self._on_state = on_state
        self._group: asyncio.TaskGroup | None = None
        self._task: asyncio.Task[None] | None = None
        self._entered: tuple[CallTable, Reconnector] | None = None
        self._closed = False

    def __repr__(self) -> str:
        state = "not connected" if self._group is None else self.state.value
        return f"<Client {base(self._uri)!r} {state}>"

    def __await__(self) -> Generator[Any, Any, "Client"]:
        return self.__aenter__().__await__()

    async def close(self) -> None:
        """End all calls and close the connection. Does nothing if the client is closed or was never connected."""
        if self._group is not None:
            await self.__aexit__(None, None, None)

    async def __aenter__(self) -> "Client":
        if self._group is not None:
            raise RuntimeError("a client can be entered only once")
        calls = CallTable(self._options)
        reconnector = Reconnector(self._uri, self._token, self._options, calls, self._tls)
        reconnector.on_state = self._on_state
        self._entered = calls, reconnector
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        self._task = self._group.create_task(self._reconnector.run(), name="hawse client")
        try:
            await self._reconnector.connected()
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._group is not None
        assert self._task is not None
        if self._closed:
            return
        self._closed = True
        try:
            await self._calls.settle_posted(POSTED_TIMEOUT)
        finally:
            self._reconnector.close()
            self._task.cancel()
        # The caller's exception is not passed to the task group, which would wrap it in an exception group. A
        # cancellation is passed, because the group itself can cause one after an error in its task.
        if kind is not None and issubclass(kind, asyncio.CancelledError):
            await self._group.__aexit__(kind, error, trace)
        else:
            await self._group.__aexit__(None, None, None)

    @property
    def _calls(self) -> CallTable:
        return self._parts()[0]

    @property
    def _reconnector(self) -> Reconnector:
        return self._parts()[1]

    def _parts(self) -> tuple[CallTable, Reconnector]:
        if self._entered is None:
            text = "this client is not connected: use `async with connect(…) as hw:`, or `hw = await connect(…)`"
            raise RuntimeError(text)
        return self._entered

    def sandbox(self, id: str = "local") -> Sandbox:
        """Return a handle to a sandbox. Nothing is sent."""
        return Sandbox(self._calls, id, self._options, gateway=base(self._uri))

    @property
    def sandboxes(self) -> "Sandboxes":
        """The gateway's sandboxes: `create`, `get`, `list`, `watch`."""
        from hawse.client.sandbox.sandboxes import Sandboxes

        return Sandboxes(self._calls, self._options, gateway=base(self._uri))

    @property
    def backups(self) -> "Backups":
        """The gateway's backups: `create`, `restore`, `list`, `get`, `usage`, `delete`."""
        from hawse.client.backups import Backups

        return Backups(self._calls)

    @property
    def images(self) -> "Images":
        """The gateway provider's images: `list`, `pull`, `remove`."""
        from hawse.client.images import Images

        return Images(self._calls)

    @property
    def tokens(self) -> "Tokens":
        """The gateway's tokens."""
        from hawse.client.access import Tokens

        return Tokens(self._calls)

    @property
    def links(self) -> "ShareLinks":
        """The gateway's share links."""
        from hawse.client.access import ShareLinks

        return ShareLinks(self._calls)

    @property
    def audit(self) -> "AuditTrail":
        """The gateway's audit log."""
        from hawse.client.audit import AuditTrail

        return AuditTrail(self._calls)

    async def preview_host(self) -> str | None:
        """Return the parent domain of all preview host names; None if previews only have paths."""
        from hawse.api.ports import PreviewHost

        return (await self._calls.request(PreviewHost(), sandbox=None)).host

    async def call(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        sandbox: str | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Call any method by its name and return its result as JSON values. Events are ignored.

        If there is no connection, the call waits for one, up to the connect timeout.

        Args:
            method: The method's name, such as `file.stat`.
            params: The parameters as JSON values.
            sandbox: The sandbox that the call is for; None for the gateway itself.
            key: With a key, the call is repeated if the connection is lost, but runs only once. Without a key, it
                raises `interrupted` in that case.
            timeout: Time limit in seconds.

        Raises:
            HawseError: The call failed or the client closed.
        """
        call = ClientCall(method, params, sandbox=sandbox, key=key, timeout=timeout, window=RAW_WINDOW)
        return await self._calls.perform(call)

    @property
    def state(self) -> ConnectionState:
        """The state of the connection."""
        return self._reconnector.state

    @property
    def rtt(self) -> float | None:
        """The last round-trip time in seconds; None until one has been measured."""
        return self._reconnector.rtt

    @property
    def welcome(self) -> Welcome | None:
        """The server's `welcome`: `identity`, `role`, `limits`, `abilities`."""
        return self._reconnector.welcome

    @property
    def connections(self) -> int:
        """The number of connections so far: 1 if none has been lost."""
        return self._reconnector.connections

    @property
    def problem(self) -> str | None:
        """Why the last attempt to connect failed, or why the connection was lost; None if neither has happened."""
        return self._reconnector.problem

    def states(self) -> "States":
        """Iterate over the current and all later states, up to `CLOSED`. A slow reader skips intermediate states."""
        return States(self._reconnector)


class States:
    """An async iterator over a client's states."""

    def __init__(self, reconnector: Reconnector) -> None:
        self._reconnector = reconnector
        self._seen: ConnectionState | None = None

    def __aiter__(self) -> "States":
        return self

    async def __anext__(self) -> ConnectionState:
        if self._seen is ConnectionState.CLOSED:
            raise StopAsyncIteration
        self._seen = await self._reconnector.changed_from(self._seen)
        return self._seen


def connect(
    url: str | None = None,
    *,
    token: Token = None,
    ca: Authorities = None,
    options: Options | None = None,
    on_state: Callable[[ConnectionState], None] | None = None,
) -> Client:
    """Return a client for the gateway at `url`. Await it, or enter it with `async with`.

    Args:
        url: `http(s)://` or `ws(s)://host[:port]`, or the URL that `hawse serve` prints (`…/#token=…`).
            None means the gateway specified by HAWSE_URL, HAWSE_TOKEN and HAWSE_CA or, failing that, the gateway saved
            by `hawse login` or the gateway on this machine.
        token: A string, or an async function that returns a fresh token for each attempt. None means the token in
            `url`.
        ca: A file with PEM certificates to trust instead of the system's, or an `ssl.SSLContext`.
        options: Timeouts, windows and delays.
        on_state: Called from the event loop with the connection's state whenever it changes.

    Raises:
        ValueError: `url` is not a gateway's URL, or `ca` does not contain PEM certificates.
        TypeError: `token` is neither a string nor a function.
        ConfigError: The gateway saved by `hawse login` cannot be read.
        RefusedError: When entered: The gateway refused the connection.
        GaveUpError: When entered: No connection was established within the connect timeout.
    """
    if url is None:
        found = from_environment()
        url, token, ca = found.url, token if token is not None else found.token, ca if ca is not None else found.ca
    return Client(url, token=token, ca=ca, options=options, on_state=on_state)
