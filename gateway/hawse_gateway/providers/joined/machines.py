"""The machines connected to this gateway now, each through one WebSocket, and the links through them.

A WebSocket carries at most one link. After the link has ended, the WebSocket is closed and the machine reconnects, so
bytes of one link can never be read as part of the next.
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

QUIT_TIMEOUT: Final = 20.0  # s for a machine to end all processes of the sandbox before it counts as gone


class MachineSocket(BinarySocket, Protocol):
    """A machine's WebSocket."""

    def attach(self, receiver: "Machine | None") -> None: ...

    def write(self, message: str | bytes) -> None: ...


class Machine:
    """One connection of a machine: the receiver of its WebSocket.

    Attributes:
        sandbox: The id of the sandbox.
        unit: Its unit.
        runtime: The id of the runtime on the machine.
        why: Returns why its sandbox ends, for the user of the machine.
        running: Whether the rows state that this runtime is the sandbox.
        ended: Set when the WebSocket should be closed, or is closed.
        left: Why the machine will not reconnect. None if it may.
        problem: A violation of the protocol, if any.
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
        """Whether it does not carry a link yet."""
        return self.running and self._transport is None and not self.ended.is_set()

    def begin(self, link: L) -> L:
        """Carry a link from now on, and return it."""
        transport = self._transport = MachineTransport(self._socket, link, self.ended.set)
        link.connection_made(transport)
        return link

    def quit(self, reason: str) -> None:
        """Ask the machine to end all processes of the sandbox, and not to reconnect."""
        if not self.ended.is_set():
            self._socket.write(encode_join(Quit(reason=reason)))
            self._socket.resume_reading()  # the link may have paused it, and the response must be read

    # ---- for the WebSocket

    def receive(self, message: str | bytes) -> None:
        if self.ended.is_set():
            return
        try:
            if isinstance(message, str):
                if not isinstance(left := parse_machine(message), Leave):
                    raise RemoteProtocolError("a second `join`")
                self.left = left.reason or "the user has ended it"
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
    """The machines of one gateway, by unit.

    Attributes:
        connections: The number of accepted connections since the gateway started.
        reconnections: How many of them came from a machine that had connected before, with the same runtime.
    """

    def __init__(self) -> None:
        self.connections = 0
        self.reconnections = 0
        self._runtimes: dict[str, str] = {}  # of the last connected machine, by unit, until the unit is deleted
        self._machines: dict[str, Machine] = {}
        self._changed = asyncio.Event()

    def get(self, unit: str) -> Machine | None:
        """Return the machine of a unit, or None if none is connected."""
        return self._machines.get(unit)

    def all(self) -> list[Machine]:
        """Return the connected machines."""
        return list(self._machines.values())

    def add(self, machine: Machine) -> None:
        """Add a machine. An earlier connection of the same runtime, lost unnoticed, is ended.

        Raises:
            HawseError: `conflict` if another machine has joined the sandbox.
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
        """Remove a machine. Return False if another connection has replaced it."""
        if self._machines.get(machine.unit) is not machine:
            return False
        del self._machines[machine.unit]
        self.notify()
        return True

    def forget(self, unit: str) -> None:
        """Forget a deleted unit."""
        self._runtimes.pop(unit, None)

    def notify(self) -> None:
        """Let waiting links check again which machines are free."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def connect(self, unit: str, make: Callable[[], L]) -> L:
        """Wait until the machine of a unit can carry a link, and return the link. The caller sets a timeout."""
        while (machine := self._machines.get(unit)) is None or not machine.free:
            await self._changed.wait()
        return machine.begin(make())

    async def quit(self, unit: str, reason: str) -> None:
        """End the sandbox on its machine, if connected, and wait for its confirmation.

        A machine that does not respond within `QUIT_TIMEOUT` is disconnected, and refused when it reconnects.
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
