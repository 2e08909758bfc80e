"""`port.*`: the ports that are open, the previews of them, and connections to them.

The table of previews lives here, beside the programs it is about: a gateway that restarts finds it again, and with the
runtime it ends. A token identifies its runtime and has a checksum, so that a token of an earlier runtime differs from
one that never existed.
"""

import base64
import hashlib
import secrets
from collections import defaultdict
from typing import NamedTuple

from hawse.api.ports import (
    ExposedPort,
    OpenPort,
    PortConnect,
    PortExpose,
    PortExposed,
    PortExposedResult,
    PortList,
    PortListResult,
    PortUnexpose,
    PortWatch,
)
from hawse.api.rights import OPERATE, allows
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError
from runtime.core.tasks import Tasks
from runtime.core.thread_pool import ThreadPool
from runtime.ports.listening_sockets import ListeningSocket, SocketOwner, owners, reachable, sockets
from runtime.ports.tunnel import TunnelStream
from runtime.ports.watch import PortPoller
from runtime.posix.process_table import ProcessReader

SECRET = 16  # bytes of a token that cannot be guessed
TAG = 3  # characters of a token that identify its runtime: 15 bits
CHECKSUM = 3  # last characters of a token: one in 32,768 invented tokens passes for one of an earlier runtime
EXPOSED_LIMIT = 256
TUNNELS_LIMIT = 1024  # connections at once: each may hold a few buffers of 64 KiB
LISTED_LIMIT = 1000  # ports in a list: more would not fit into a message


class Seen(NamedTuple):
    listening: frozenset[ListeningSocket]
    ours: dict[int, SocketOwner]  # by inode
    settled: bool  # it was seen twice


class PortMethods:
    """The methods. `runtime` is the id of this incarnation, which its programs bear as a mark."""

    def __init__(self, runtime: str, tasks: Tasks, proc: ThreadPool) -> None:
        self._runtime = runtime
        self._tasks = tasks
        self._proc = proc  # the threads that read /proc
        self._processes = ProcessReader()
        self._exposed: dict[int, ExposedPort] = {}  # by port
        self._tokens: dict[
            bytes, ExposedPort
        ] = {}  # by the token's hash, so that the time of a look-up reveals nothing of the token
        self._tunnels: dict[TunnelStream, ExposedPort | None] = {}  # with the preview they were made by
        self._poller = PortPoller(self._look, tasks)
        self._seen = Seen(frozenset(), {}, False)

    # ---- what is open

    @handles(PortList)
    async def _list(self, params: PortList) -> PortListResult:
        return await self._look()

    @serves(PortWatch)
    def _watch(self, call: ServerCall, params: PortWatch) -> None:
        self._poller.serve(call)

    @handles(PortExposed)
    def _list_exposed(self, params: PortExposed) -> PortExposedResult:
        return PortExposedResult(exposed=list(self._exposed.values()))

    async def _look(self) -> PortListResult:
        listening, ours, _ = await self._proc.run(self._scan)
        found: dict[int, list[ListeningSocket]] = defaultdict(list)
        for socket in sorted(listening):
            if socket.inode in ours:
                found[socket.port].append(socket)
        return PortListResult(
            ports=[
                OpenPort(
                    port=port,
                    addresses=sorted({socket.address for socket in group}),
                    pid=ours[group[0].inode].pid,
                    process=ours[group[0].inode].name,
                    exposed=port in self._exposed,
                )
                for port, group in list(found.items())[:LISTED_LIMIT]
            ]
        )

    def _scan(self, *, anew: bool = False) -> Seen:
        """Who holds which socket is asked when others listen than the last time, and once more: /proc is no snapshot,
        and a program whose parent went while it was read is missing. In a thread."""
        listening = sockets()
        if anew or listening != self._seen.listening or not self._seen.settled:
            settled = listening == self._seen.listening
            self._seen = Seen(listening, owners(self._processes.read(), self._runtime), settled)
        return self._seen

    # ---- previews

    @handles(PortExpose)
    async def _expose(self, params: PortExpose) -> ExposedPort:
        """Expose a port, also one without a listener yet. Raises `forbidden` if a foreign program listens there."""
        await self._proc.run(self._places, params.port)
        known = self._exposed.get(params.port)
        if known is not None:
            return known
        if len(self._exposed) >= EXPOSED_LIMIT:
            raise HawseError("limit_exceeded", f"{EXPOSED_LIMIT} ports are exposed")
        exposed = ExposedPort(port=params.port, token=new_token(self._runtime), name=params.name)
        self._exposed[exposed.port] = exposed
        self._tokens[_hash(exposed.token)] = exposed
        self._poller.poll_now()
        return exposed

    @handles(PortUnexpose)
    def _unexpose(self, params: PortUnexpose) -> dict[str, str]:
        port = params.port
        exposed = self._exposed.pop(port, None)
        if exposed is not None:
            del self._tokens[_hash(exposed.token)]
            for tunnel in [tunnel for tunnel, by in self._tunnels.items() if by is exposed]:
                tunnel.cut(HawseError("not_found", "the preview was taken back", admitted="yes"))
            self._poller.poll_now()
        return {}

    def _by_token(self, token: str) -> ExposedPort:
        exposed = self._tokens.get(_hash(token))
        if exposed is not None:
            return exposed
        body, checksum = token[:-CHECKSUM], token[-CHECKSUM:]
        if checksum == _digest(body, CHECKSUM) and not body.endswith(_digest(self._runtime, TAG)):
            raise HawseError("stale_handle", "this preview belongs to an earlier runtime of the sandbox")
        raise HawseError("not_found", "no such preview")

    # ---- connections

    @serves(PortConnect)
    def _connect(self, call: ServerCall, params: PortConnect) -> None:
        if (params.port is None) == (params.token is None):
            raise HawseError("invalid_params", "either a port or a token")
        if params.port is not None and not allows(call.principal.rights, OPERATE):
            raise HawseError("forbidden", "a preview is reached by its token")
        exposed = self._by_token(params.token) if params.token is not None else None
        port = exposed.port if exposed is not None else params.port
        assert port is not None
        if len(self._tunnels) >= TUNNELS_LIMIT:
            raise HawseError("limit_exceeded", f"{TUNNELS_LIMIT} connections are open")
        tunnel = TunnelStream(call, port, lambda: self._proc.run(self._find, port), self._tasks, self._tunnels.pop)
        self._tunnels[tunnel] = exposed
        call.serve(tunnel)

    def _find(self, port: int) -> list[str]:
        """Return the addresses of `port`. Raises `unavailable` if it is closed, `forbidden` if it is foreign."""
        places = self._places(port)
        if not places:
            raise HawseError("unavailable", f"nothing listens on port {port}", details={"port": port})
        return places

    def _places(self, port: int) -> list[str]:
        """Raises `forbidden` if only others than the sandbox's programs listen there: the gateway, this runtime…"""
        seen = Seen(sockets(), self._seen.ours, True)
        there = [socket for socket in seen.listening if socket.port == port]
        if not all(socket.inode in seen.ours for socket in there):  # else it is known whose they are
            seen = self._scan(anew=True)
            there = [socket for socket in seen.listening if socket.port == port]
        places = reachable(port, seen.listening, seen.ours)
        if there and not places:
            raise HawseError("forbidden", f"port {port} is not the sandbox's")
        return places


def new_token(runtime: str) -> str:
    """Return a random token for a preview of the runtime with this id: 32 characters, lower-case letters and digits."""
    body = _base32(secrets.token_bytes(SECRET)) + _digest(runtime, TAG)
    return body + _digest(body, CHECKSUM)


def _digest(text: str, length: int) -> str:
    return _base32(_hash(text))[:length]


def _base32(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=").lower()


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
