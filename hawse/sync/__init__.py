"""The synchronous Python client: `with hawse.sync.connect(url) as hw: hw.sandbox().exec("uname -a")`.

It has the same classes and methods as `hawse.client`, without `async` and `await`, for use from any thread. All clients
in a process share one event loop, which runs in a separate thread. Callbacks (`on_state`, `progress`) are called in
that thread and must not wait for the client.
"""

import builtins
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from types import TracebackType
from typing import Any, cast

import hawse.client as asynchronous
from hawse.client.sandbox.creation import SandboxCreation as AsyncSandboxCreation
from hawse.sync.background import DEFAULT
from hawse.sync.deadline import timeout as timeout
from hawse.sync.wrapping import creates, handles, stands_for, synchronous
from hawse.wire import HawseError

_CLASSES = {name: synchronous(cls) for name, cls in handles().items()}
__all__ = sorted([*_CLASSES, "CreatedSandbox", "OpenedSandbox", "connect", "timeout"])  # noqa: PLE0605
globals().update(_CLASSES)


class Sandbox(_CLASSES["Sandbox"]):
    """A handle to a sandbox. It uses an existing client's connection, as with `hw.sandbox()`, or has its own.

    `create`, `get` and `list` are for programs that only need one sandbox. Without `client`, they connect to the
    gateway found by `connect()`.

    Attributes:
        id: The sandbox's id.
        connection: The client connected by this handle, which `close` closes; None if it uses another client.
    """

    connection: "Client | None" = None

    @classmethod
    def create(cls, id: str | None = None, *, client: "Client | None" = None, **options: Any) -> "CreatedSandbox":
        """Create a sandbox and start it.

        `box = Sandbox.create()` creates a permanent sandbox. `with Sandbox.create() as box:` deletes it at the end and
        closes the connection.

        Args:
            id: The id; None means a random id.
            client: The client to use. If None, a separate connection is opened, which lasts until `close`.
            options: The same as in `hw.sandboxes.create`. See `SandboxOptions`.

        Raises:
            HawseError: The same errors as `connect()` and `hw.sandboxes.create`.
        """
        if client is not None:
            return cast(CreatedSandbox, client.sandboxes.create(id, **options))
        return cast(CreatedSandbox, cls._with_own_connection(lambda own: own.sandboxes.create(id, **options)))

    @classmethod
    def get(cls, id: str, *, client: "Client | None" = None) -> "OpenedSandbox":
        """Find an existing sandbox, without starting it.

        `box = Sandbox.get("build")` returns its handle. `with Sandbox.get("build") as box:` closes the connection at
        the end, but keeps the sandbox.

        Args:
            id: The id.
            client: The client to use. If None, a separate connection is opened, which lasts until `close`.

        Raises:
            HawseError: `not_found`; the same errors as `connect()`.
        """

        def find(client: Client) -> OpenedSandbox:
            client.sandboxes.get(id)
            return OpenedSandbox(client._loop, client.sandbox(id).target)

        return cast(OpenedSandbox, cls._with_own_connection(find)) if client is None else find(client)

    @classmethod
    def list(
        cls, *, labels: Mapping[str, str] | None = None, client: "Client | None" = None
    ) -> builtins.list[asynchronous.SandboxInfo]:
        """Return the sandboxes that have all of these labels, like `hw.sandboxes.list`, without starting them.

        Args:
            labels: Labels that a sandbox must have.
            client: The client to use. If None, a connection is opened, and closed before returning.
        """
        with connect() if client is None else nullcontext(client) as hw:
            return cast(builtins.list[asynchronous.SandboxInfo], hw.sandboxes.list(labels=labels))

    def close(self) -> None:
        """Close the connection opened by `create` or `get`. The sandbox remains.

        Has no effect if the sandbox uses a client's connection, or if called more than once.
        """
        if self.connection is not None:
            self.connection.close()

    @staticmethod
    def _with_own_connection(find: "Callable[[Client], Sandbox]") -> "Sandbox":
        """Connect, and return a sandbox that owns the connection. If `find` fails, the connection is closed."""
        client = connect()
        try:
            box = find(client)
        except BaseException:
            client.close()
            raise
        box.connection = client
        return box


stands_for(asynchronous.Sandbox, Sandbox)


class OpenedSandbox(Sandbox):
    """A sandbox found by `Sandbox.get`. Leaving the `with` block closes its connection but keeps the sandbox."""

    def __enter__(self) -> "OpenedSandbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class CreatedSandbox(Sandbox):
    """A sandbox that was created. Leaving a `with` block deletes the sandbox; without `with`, it is kept."""

    def __enter__(self) -> "CreatedSandbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.delete()
        except HawseError as failure:
            if failure.code not in ("not_found", "cleanup_pending"):  # `cleanup_pending`: the gateway keeps deleting it
                raise
        finally:
            self.close()


creates(AsyncSandboxCreation, CreatedSandbox)


class Client(_CLASSES["Client"]):
    """A WebSocket connection, which is re-established if it is lost, and the calls on it. Created by `connect`."""

    def __enter__(self) -> "Client":
        return self  # connected by `connect`

    def close(self) -> None:
        """End all calls and close the connection. Has no effect if called more than once."""
        self.__exit__(None, None, None)


def connect(url: str | None = None, **options: Any) -> Client:
    """Connect to the gateway at `url` and return the client. Use the client with `with`, or call `close` when done.

    Args:
        url: `http(s)://` or `ws(s)://host[:port]`, or the URL that `hawse serve` prints (`…/#token=…`).
            None means the gateway specified by HAWSE_URL, HAWSE_TOKEN and HAWSE_CA or, failing that, the gateway saved
            by `hawse login` or the gateway on this machine.
        options: `token`, `ca`, `options` and `on_state`, the same as in `hawse.connect`.

    Raises:
        ValueError: `url` is not a gateway's URL.
        RefusedError: The gateway refused the connection.
        GaveUpError: No connection was established within the connect timeout.
    """
    client = Client(DEFAULT.get(), asynchronous.connect(url, **options))
    super(Client, client).__enter__()
    return client
