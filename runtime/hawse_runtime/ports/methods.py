"""The `port.*` methods: open ports, previews, and connections to ports.

The runtime stores the previews so that they survive a gateway restart.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from hawse.api.ports import (
    ExposedPort,
    OpenPort,
    PortAccept,
    PortConnect,
    PortExpose,
    PortExposed,
    PortExposedResult,
    PortList,
    PortListen,
    PortListResult,
    PortUnexpose,
    PortWatch,
)
from hawse.api.rights import OPERATE, allows
from hawse.api.sandboxes import SandboxPort
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.ports.listener import PortListener
from hawse_runtime.ports.listening_sockets import ListeningSocket, SocketOwner, is_internal, owners, reachable, sockets
from hawse_runtime.ports.previews import PreviewTable
from hawse_runtime.ports.tunnel import TunnelStream, dial_first
from hawse_runtime.ports.watch import PortPoller
from hawse_runtime.posix.proc import own_pid
from hawse_runtime.posix.process_table import ProcessReader

LISTENERS_LIMIT = 64  # maximum number of ports opened by `port.listen`
# Maximum number of concurrent connections; each can hold several buffers of 64 KiB.
TUNNELS_LIMIT = 1024
LISTED_LIMIT = 1000  # maximum number of ports in a list, which must fit into a message


class Seen(NamedTuple):
    listening: frozenset[ListeningSocket]
    ours: dict[int, SocketOwner]  # socket owners, keyed by inode
    settled: bool  # whether two consecutive scans had the same result


class PortMethods:
    """The methods. `runtime` is this runtime's id, which all its programs have in their environment."""

    def __init__(self, runtime: str, tasks: Tasks, proc: ThreadPool, previews: PreviewTable) -> None:
        self._runtime = runtime
        self._tasks = tasks
        self._proc = proc  # the thread pool for reading /proc
        self._processes = ProcessReader()
        self._previews = previews
        self._tunnels: dict[TunnelStream, ExposedPort | None] = {}  # the preview used by each connection, if any
        self._listeners: list[PortListener] = []
        self._poller = PortPoller(self._look, tasks)
        self._seen = Seen(frozenset(), {}, False)

    # ---- open ports

    @handles(PortList)
    async def _list(self, params: PortList) -> PortListResult:
        return await self._look()

    @serves(PortWatch)
    def _watch(self, call: ServerCall, params: PortWatch) -> None:
        self._poller.serve(call)

    @handles(PortExposed)
    def _list_exposed(self, params: PortExposed) -> PortExposedResult:
        return PortExposedResult(exposed=self._previews.all)

    async def _look(self) -> PortListResult:
        listening, ours, _ = await self._proc.run(self._scan)
        found: dict[int, list[ListeningSocket]] = defaultdict(list)
        for socket in sorted(listening):
            if (owner := ours.get(socket.inode)) is not None and not is_internal(socket, owner):
                found[socket.port].append(socket)
        return PortListResult(
            ports=[
                OpenPort(
                    port=port,
                    addresses=sorted({socket.address for socket in group}),
                    pid=own_pid(ours[group[0].inode].pid),
                    process=ours[group[0].inode].name,
                    exposed=port in self._previews,
                )
                for port, group in list(found.items())[:LISTED_LIMIT]
            ]
        )

    def _scan(self, *, anew: bool = False) -> Seen:
        """Return all listening sockets, along with the owners of the sandbox's sockets. Blocks: call it in a thread.

        The owners are reread if the listening sockets have changed since the last scan, and once more in the scan after
        that. /proc is not a snapshot, so a single scan can miss a program whose parent exits in the meantime.

        Args:
            anew: Whether to reread the owners even if the listening sockets haven't changed.
        """
        listening = sockets()
        if anew or listening != self._seen.listening or not self._seen.settled:
            settled = listening == self._seen.listening
            self._seen = Seen(listening, owners(self._processes.read(), self._runtime), settled)
        return self._seen

    # ---- previews

    @handles(PortExpose)
    async def _expose(self, params: PortExpose) -> ExposedPort:
        """Expose a port, even if no program is listening on it yet. Raises `forbidden` if only programs outside the
        sandbox are.
        """
        await self._proc.run(self._places, params.port)
        exposed = self._previews.expose(params.port, name=params.name, token=params.token)
        self._poller.poll_now()
        return exposed

    @handles(PortUnexpose)
    def _unexpose(self, params: PortUnexpose) -> dict[str, str]:
        exposed = self._previews.revoke(params.port)
        if exposed is not None:
            for tunnel in [tunnel for tunnel, by in self._tunnels.items() if by is exposed]:
                tunnel.cut(HawseError("not_found", "the preview was removed", admitted="yes"))
            self._poller.poll_now()
        return {}

    def configure(self, ports: Iterable[SandboxPort]) -> None:
        """Create the sandbox's configured previews, except for any that were revoked."""
        self._previews.configure(ports)
        self._poller.poll_now()

    # ---- connections

    @serves(PortConnect)
    def _connect(self, call: ServerCall, params: PortConnect) -> None:
        if (params.port is None) == (params.token is None):
            raise HawseError("invalid_params", "specify either `port` or `token`, not both")
        if params.port is not None and not allows(call.principal.rights, OPERATE):
            raise HawseError(
                "forbidden",
                "connecting to a port by number requires the right `operate`; use a preview's token instead",
            )
        exposed = self._previews.by_token(params.token) if params.token is not None else None
        port = exposed.port if exposed is not None else params.port
        assert port is not None
        self._check_tunnels()
        dial = dial_first(lambda: self._proc.run(self._find, port))
        tunnel = TunnelStream(call, port, dial, self._tasks, self._tunnels.pop)
        self._tunnels[tunnel] = exposed
        call.serve(tunnel)

    def _check_tunnels(self) -> None:
        if len(self._tunnels) >= TUNNELS_LIMIT:
            raise HawseError("limit_exceeded", f"connection limit reached: {TUNNELS_LIMIT} connections are open")

    @serves(PortListen)
    def _listen(self, call: ServerCall, params: PortListen) -> None:
        same = next((one for one in self._listeners if params.port and one.port == params.port), None)
        if same is not None and same.principal == call.principal.id:  # the earlier call's connection was lost
            same.cut(HawseError("conflict", "a later call by the same user is listening on the port", admitted="yes"))
        if len(self._listeners) >= LISTENERS_LIMIT:
            raise HawseError("limit_exceeded", f"port limit reached: {LISTENERS_LIMIT} ports are open")
        listener = PortListener(call, params.port, self._tasks, self._listeners.remove)
        self._listeners.append(listener)
        call.serve(listener)

    @serves(PortAccept)
    def _accept(self, call: ServerCall, params: PortAccept) -> None:
        self._check_tunnels()
        found = (one.take(params.connection) for one in self._listeners)
        waiting = next((one for one in found if one is not None), None)
        if waiting is None:
            raise HawseError("not_found", "the connection was already accepted, or has waited too long")
        tunnel = TunnelStream(call, waiting.port, waiting.take(), self._tasks, self._tunnels.pop)
        self._tunnels[tunnel] = None
        call.serve(tunnel)

    def _find(self, port: int) -> list[str]:
        """Return the addresses for `port`. Raises `unavailable` if no program is listening on it, and any error from
        `_places`.
        """
        places = self._places(port)
        if not places:
            raise HawseError("unavailable", f"no program is listening on port {port}", details={"port": port})
        return places

    def _places(self, port: int) -> list[str]:
        """Return the addresses where the sandbox's programs accept connections to `port`.

        Raises:
            HawseError: `forbidden` if only programs outside the sandbox, such as the gateway or this runtime, are
                listening there.
        """
        seen = Seen(sockets(), self._seen.ours, True)
        there = [socket for socket in seen.listening if socket.port == port]
        if not all(socket.inode in seen.ours for socket in there):  # the owners of some sockets are not known yet
            seen = self._scan(anew=True)
            there = [socket for socket in seen.listening if socket.port == port]
        places = reachable(port, seen.listening, seen.ours)
        if there and not places:
            raise HawseError("forbidden", f"port {port} belongs to a program outside the sandbox")
        return places
