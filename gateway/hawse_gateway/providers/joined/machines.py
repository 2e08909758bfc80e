"""The machines connected to this gateway, each through one WebSocket, and their links.

A WebSocket carries at most one link. Once the link has ended, the WebSocket is closed and the machine reconnects, so
that bytes from one link are never read as part of the next link.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

from hawse.wire import HawseError, RemoteProtocolError
from hawse.wire.join import Leave, Quit, encode_join, parse_machine
from hawse_gateway.providers.joined.transport import BinarySocket, MachineTransport

log = logging.getLogger(__name__)

L = TypeVar("L", bound=asyncio.Protocol)

QUIT_TIMEOUT: Final = 20.0  # seconds to wait for a machine to end the sandbox's processes, before disconnecting it


class MachineSocket(BinarySocket, Protocol):
    """A machine's WebSocket."""

    def attach(self, receiver: "Machine | None") -> None: ...

    def write(self, message: str | bytes) -> None: ...


class Machine:
    """A machine's connection. Receives the messages from its WebSocket.

    Attributes:
        sandbox: The sandbox's id.
        unit: The unit's name.
        runtime: The id of the runtime running on the machine.
        why: Returns the reason why the sandbox is ending, to be shown to the machine's user.
        running: Whether the store records this runtime as the sandbox's runtime.
        ended: Set when the WebSocket is closed or should be closed.
        left: The reason why the machine will not reconnect. None if it may reconnect.
        problem: The machine's violation of the protocol, or None.
    """

    def __init__(
        self, socket: MachineSocket, *, sandbox: str, unit: str, runtime: str, why: Callable[[str], Awaitable[str]]
    ) -> None:
        self.sandbox = sandbox
        self.unit = unit
        self.runtime = runtime
        self.why = why
        self.running = False
        self.ended = asyncio.Event()
        self.left: str | None = None
        self.problem: RemoteProtocolError | None = None
        self._socket = socket
        self._transport: MachineTransport | None = None

    @property
    def free(self) -> bool:
        """Whether the connection is ready for a link."""
        return self.running and self._transport is None and not self.ended.is_set()

    def begin(self, link: L) -> L:
        """Start carrying a link, and return it."""
        transport = self._transport = MachineTransport(self._socket, link, self.ended.set)
        link.connection_made(transport)
        return link

    def quit(self, reason: str) -> None:
        """Ask the machine to end all of the sandbox's processes and not to reconnect."""
        if not self.ended.is_set():
            self._socket.write(encode_join(Quit(reason=reason)))
            self._socket.resume_reading()  # the link may have paused reading, but the machine's response must be read

    # ---- called by the WebSocket

    def receive(self, message: str | bytes) -> None:
        if self.ended.is_set():
            return
        try:
            if isinstance(message, str):
                if not isinstance(left := parse_machine(message), Leave):
                    raise RemoteProtocolError("a second `join`")
                self.left = left.reason or "the user stopped `hawse join`"
                self.lost()
            elif self._transport is None:
                raise RemoteProtocolError("the machine sent a binary message before the gateway did")
            else:
                self._transport.receive(message)
        except RemoteProtocolError as error:
            log.warning("! machine of sandbox %s: %s", self.sandbox, error, extra={"sandbox": self.sandbox})
            self.problem = error
            self.lost()

    def lost(self) -> None:
        self.ended.set()
        if self._transport is not None:
            self._transport.lost()

    def resume_writing(self) -> None:
        if self._transport is not None:
            self._transport.resume_writing()


class Machines:
    """The machines connected to a gateway, keyed by the unit they run.

    Attributes:
        connections: The number of connections since the gateway started.
        reconnections: How many of these connections came from runtimes that had connected before.
    """

    def __init__(self) -> None:
        self.connections = 0
        self.reconnections = 0
        self._runtimes: dict[str, str] = {}  # id of the most recently connected runtime, keyed by unit
        self._machines: dict[str, Machine] = {}
        self._changed = asyncio.Event()

    def get(self, unit: str) -> Machine | None:
        """Return a unit's machine, or None if it isn't connected."""
        return self._machines.get(unit)

    def all(self) -> list[Machine]:
        """Return the connected machines."""
        return list(self._machines.values())

    def add(self, machine: Machine) -> None:
        """Add a machine. If the same runtime has an earlier connection whose loss went unnoticed, end that connection.

        Raises:
            HawseError: `conflict` if a different machine has joined the sandbox.
        """
        before = self._machines.get(machine.unit)
        if before is not None and before.runtime != machine.runtime:
            raise HawseError("conflict", f"another machine has joined sandbox {machine.sandbox!r}")
        self.connections += 1
        self.reconnections += self._runtimes.get(machine.unit) == machine.runtime
        self._runtimes[machine.unit] = machine.runtime
        self._machines[machine.unit] = machine
        if before is not None:
            before.lost()
        self.notify()

    def remove(self, machine: Machine) -> bool:
        """Remove a machine. Return False if a newer connection has already replaced it."""
        if self._machines.get(machine.unit) is not machine:
            return False
        del self._machines[machine.unit]
        self.notify()
        return True

    def forget(self, unit: str) -> None:
        """Drop the state kept for a deleted unit."""
        self._runtimes.pop(unit, None)

    def notify(self) -> None:
        """Wake up links that are waiting for a machine."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def connect(self, unit: str, make: Callable[[], L]) -> L:
        """Wait until a unit's machine can carry a link, and create the link. The caller sets a timeout."""
        while (machine := self._machines.get(unit)) is None or not machine.free:
            await self._changed.wait()
        return machine.begin(make())

    async def quit(self, unit: str, reason: str) -> None:
        """If the machine is connected, end the sandbox on it and wait for confirmation.

        A machine that does not respond within `QUIT_TIMEOUT` is disconnected, and refused if it reconnects.
        """
        machine = self._machines.get(unit)
        if machine is None:
            return
        machine.quit(reason)
        try:
            async with asyncio.timeout(QUIT_TIMEOUT):
                await machine.ended.wait()
        except TimeoutError:
            machine.lost()
