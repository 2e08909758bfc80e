"""A sandbox: its commands, processes, sessions, code, terminals, files, watches, ports and git.

Properties and methods are named after the protocol's methods: `process.start` is `box.processes.start`. `start`,
`create`, `open` and `attach` return handles; `get` and `list` return records. Only
`box.exec` is a method of the sandbox itself.

If the connection is lost, streams resume, and calls with side effects are repeated with a key, so they only run once.
"""

import builtins
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Unpack

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.sandbox.execution import Execution
from hawse.client.sandbox.lifecycle import Lifecycle

if TYPE_CHECKING:  # loaded on first use, so that programs start fast
    from hawse.api.runtime import RuntimeInfoResult, RuntimeMetricsResult
    from hawse.api.sandboxes import SandboxInfo
    from hawse.client.backups import SandboxBackups
    from hawse.client.client import Client
    from hawse.client.code.contexts import Code
    from hawse.client.desktop import Desktop
    from hawse.client.egress import Egress
    from hawse.client.files.files import Files
    from hawse.client.git import Git
    from hawse.client.mounts import Mounts
    from hawse.client.ports import Ports
    from hawse.client.process.processes import Processes
    from hawse.client.process.sessions import Sessions
    from hawse.client.sandbox.creation import SandboxCreation, SandboxOpening, SandboxOptions
    from hawse.client.terminal.questions import Questions
    from hawse.client.terminal.recordings import Recordings
    from hawse.client.terminal.terminals import Terminals
    from hawse.client.tunnels import Tunnels
    from hawse.client.watch import Watches


class Sandbox(Lifecycle, Execution):
    """A handle to a sandbox. It uses an existing client's connection, as with `hw.sandbox()`, or has its own.

    `create`, `get` and `list` are for programs that only need one sandbox. Without `client`, they connect to the
    gateway found by `connect()`.

    Attributes:
        id: The id of the sandbox.
        connection: The client connected by this handle, which `close` closes; None if it uses another client.
    """

    connection: "Client | None" = None

    def __init__(self, calls: CallTable, id: str, options: Options, *, gateway: str = "") -> None:
        """Create a handle.

        Args:
            calls: The client's calls.
            id: The id of the sandbox.
            options: The client's options.
            gateway: The gateway's HTTP URL, for preview URLs.
        """
        super().__init__(calls, id, options)
        self._gateway = gateway

    def __repr__(self) -> str:
        return f"<Sandbox {self.id!r}>"

    @classmethod
    def create(
        cls, id: str | None = None, *, client: "Client | None" = None, **options: "Unpack[SandboxOptions]"
    ) -> "SandboxCreation":
        """Create a sandbox and start it.

        `box = await Sandbox.create()` creates a permanent sandbox. `async with Sandbox.create() as box:` deletes it at
        the end and closes the connection.

        Args:
            id: The id; None means a random id.
            client: The client to use. If None, a separate connection is opened, which lasts until `close`.
            options: The same as in `hw.sandboxes.create`. See `SandboxOptions`.

        Raises:
            HawseError: When awaited: the same errors as `connect()` and `hw.sandboxes.create`.
        """
        from hawse.client.sandbox.creation import SandboxCreation, with_own_connection

        if client is not None:
            return client.sandboxes.create(id, **options)
        return SandboxCreation(partial(with_own_connection, lambda own: own.sandboxes.create(id, **options)))

    @classmethod
    def get(cls, id: str, *, client: "Client | None" = None) -> "SandboxOpening":
        """Find an existing sandbox, without starting it.

        `box = await Sandbox.get("build")` returns its handle. `async with Sandbox.get("build") as box:` closes the
        connection at the end, but keeps the sandbox.

        Args:
            id: The id.
            client: The client to use. If None, a separate connection is opened, which lasts until `close`.

        Raises:
            HawseError: When awaited: `not_found`; the same errors as `connect()`.
        """
        from hawse.client.sandbox.creation import SandboxOpening, with_own_connection

        async def find(client: "Client") -> Sandbox:
            await client.sandboxes.get(id)
            return client.sandbox(id)

        return SandboxOpening(partial(with_own_connection, find) if client is None else partial(find, client))

    @classmethod
    async def list(
        cls, *, labels: Mapping[str, str] | None = None, client: "Client | None" = None
    ) -> "builtins.list[SandboxInfo]":
        """Return the sandboxes that have all of these labels, like `hw.sandboxes.list`, without starting them.

        Args:
            labels: Labels that a sandbox must have.
            client: The client to use. If None, a connection is opened, and closed before returning.
        """
        if client is not None:
            return await client.sandboxes.list(labels=labels)
        from hawse.client.client import connect

        async with connect() as own:
            return await own.sandboxes.list(labels=labels)

    async def close(self) -> None:
        """Close the connection opened by `create` or `get`. Must be called in the task that opened it. The sandbox is
        kept.

        Does nothing if the sandbox uses a client's connection, or if called more than once.
        """
        if self.connection is not None:
            await self.connection.close()

    async def runtime(self) -> "RuntimeInfoResult":
        """Return the version and state of the sandbox's runtime."""
        from hawse.api.runtime import RuntimeInfo

        return await self._request(RuntimeInfo())

    async def metrics(self) -> "RuntimeMetricsResult":
        """Return the counters of the sandbox's runtime."""
        from hawse.api.runtime import RuntimeMetrics

        return await self._request(RuntimeMetrics())

    @property
    def processes(self) -> "Processes":
        """Processes, which outlive the client: `start`, `attach`, `get`, `list`."""
        from hawse.client.process.processes import Processes

        return Processes(self._calls, self.id, window=self._window)

    @property
    def sessions(self) -> "Sessions":
        """Persistent shells: `create`, `attach`, `get`, `list`."""
        from hawse.client.process.sessions import Sessions

        return Sessions(self._calls, self.id, window=self._window)

    @property
    def code(self) -> "Code":
        """Code in Python, JavaScript, TypeScript, bash and others: `run`, `create`, `attach`, `get`, `list`."""
        from hawse.client.code.contexts import Code

        return Code(self._calls, self.id, window=self._window)

    @property
    def questions(self) -> "Questions":
        """Questions for users about programs that are waiting for input: `ask`, `answer`, `watch`, `list`."""
        from hawse.client.terminal.questions import Questions

        return Questions(self._calls, self.id, window=self._window)

    @property
    def terminals(self) -> "Terminals":
        """Terminals, for users and programs: `open`, `attach`, `get`, `list`."""
        from hawse.client.terminal.terminals import Terminals

        return Terminals(self._calls, self.id, window=self._window)

    @property
    def recordings(self) -> "Recordings":
        """Recordings: `attach`, `get`, `list`, `watch`. `Terminal.record` and `Desktop.record` start one."""
        from hawse.client.terminal.recordings import Recordings

        return Recordings(self._calls, self.id, window=self._window)

    @property
    def files(self) -> "Files":
        """Files: `read`, `write`, `edit`, `upload`, `list`, `search`, `copy`, `archive` and more."""
        from hawse.client.files.files import Files

        return Files(self._calls, self.id, window=self._window)

    @property
    def backups(self) -> "SandboxBackups":
        """This sandbox's backups: `create`, `restore`, `list`, `get`, `delete`. For all sandboxes, use `hw.backups`."""
        from hawse.client.backups import SandboxBackups

        return SandboxBackups(self._calls, self.id)

    @property
    def mounts(self) -> "Mounts":
        """Buckets and directories mounted from the gateway's machine: `create`, `list`, `delete`."""
        from hawse.client.mounts import Mounts

        return Mounts(self._calls, self.id)

    @property
    def egress(self) -> "Egress":
        """The sandbox's egress rules, if its network is `filtered`: `get`, `set`, `watch`."""
        from hawse.client.egress import Egress

        return Egress(self._calls, self.id)

    @property
    def git(self) -> "Git":
        """Git: `clone`, `status`, `commit` and more."""
        from hawse.client.git import Git

        return Git(self._calls, self.id, window=self._window)

    @property
    def watches(self) -> "Watches":
        """Changes in directories: `start` streams them, `changes` returns them on request."""
        from hawse.client.watch import Watches

        return Watches(self._calls, self.id, window=self._window)

    @property
    def ports(self) -> "Ports":
        """Open ports: `list` and `watch` them, create previews with `expose`, connect with `connect`."""
        from hawse.client.ports import Ports

        return Ports(self._calls, self.id, gateway=self._gateway, window=self._window)

    @property
    def tunnels(self) -> "Tunnels":
        """Durable public addresses for ports: `create`, `list`, `delete`."""
        from hawse.client.tunnels import Tunnels

        return Tunnels(self._calls, self.id, gateway=self._gateway)

    @property
    def desktop(self) -> "Desktop":
        """A graphical desktop: `start`, `screenshot`, `click`, `type`, `launch`, `connect`."""
        from hawse.client.desktop import Desktop

        return Desktop(self._calls, self.id, window=self._window, timeout=self._options.request_timeout)
