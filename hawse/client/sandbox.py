"""A sandbox: its commands, and what it has: processes, sessions, code, terminals, files, watches, ports, git.

Each property is named after what it holds, and its methods after those of the wire: `process.start` is
`box.processes.start`. `start`, `create`, `open` and `attach` return handles, `get` and `list` return records.
`box.exec` alone is a method of the sandbox itself.

If a connection is lost, calls that change something are repeated with a key, so they run once, and streams resume.
"""

from typing import TYPE_CHECKING

from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.lifecycle import Lifecycle
from hawse.client.process.execution import Execution

if TYPE_CHECKING:  # each is loaded when it is first used, so that a program starts fast
    from hawse.api.runtime import RuntimeInfoResult, RuntimeMetricsResult
    from hawse.client.code.contexts import Code
    from hawse.client.files.files import Files
    from hawse.client.git import Git
    from hawse.client.ports import Ports
    from hawse.client.process.processes import Processes
    from hawse.client.process.sessions import Sessions
    from hawse.client.terminal.recordings import Recordings
    from hawse.client.terminal.terminals import Terminals
    from hawse.client.watch import Watches


class Sandbox(Lifecycle, Execution):
    """A handle to one sandbox. It holds nothing open."""

    def __init__(self, calls: CallTable, id: str, options: Options, *, gateway: str = "") -> None:
        """Create a handle.

        Args:
            calls: The calls of the client.
            id: The id of the sandbox.
            options: The options of the client.
            gateway: The HTTP URL of the gateway, for the URLs of previews.
        """
        super().__init__(calls, id, options)
        self._gateway = gateway

    async def runtime(self) -> "RuntimeInfoResult":
        """Return the version and the state of the sandbox's runtime."""
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
    def terminals(self) -> "Terminals":
        """Terminals, for people and programs: `open`, `attach`, `get`, `list`."""
        from hawse.client.terminal.terminals import Terminals

        return Terminals(self._calls, self.id, window=self._window)

    @property
    def recordings(self) -> "Recordings":
        """Recordings of terminals: `attach`, `get`, `list`, `watch`. `Terminal.record` begins one."""
        from hawse.client.terminal.recordings import Recordings

        return Recordings(self._calls, self.id, window=self._window)

    @property
    def files(self) -> "Files":
        """Files: `read`, `write`, `edit`, `upload`, `list`, `search`, `copy`, `archive` and more."""
        from hawse.client.files.files import Files

        return Files(self._calls, self.id, window=self._window)

    @property
    def git(self) -> "Git":
        """Git: `clone`, `status`, `commit` and more."""
        from hawse.client.git import Git

        return Git(self._calls, self.id, window=self._window)

    @property
    def watches(self) -> "Watches":
        """Changes in directories: `start` streams them, `changes` asks for them."""
        from hawse.client.watch import Watches

        return Watches(self._calls, self.id, window=self._window)

    @property
    def ports(self) -> "Ports":
        """Open ports: `list` and `watch` them, make previews with `expose`, connect with `connect`."""
        from hawse.client.ports import Ports

        return Ports(self._calls, self.id, gateway=self._gateway, window=self._window)
