"""The machines that are connected to this gateway now, each by one WebSocket, and the links through them.

A WebSocket carries at most one link. When the link has ended, the WebSocket is closed and the machine connects again,
so no byte of a link can ever be read as one of the next.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from hawse.wire import HawseError, RemoteProtocolError
from hawse.wire.join import Leave, Quit, encode_join, parse_machine
from hawse_gateway.providers.joined.transport import BinarySocket, MachineTransport

log = logging.getLogger(__name__)

L = TypeVar("L", bound=asyncio.Protocol)

QUIT_TIMEOUT: Final = 20.0  # s for a machine to end everything of the sandbox, after which it counts as gone


class MachineSocket(BinarySocket, Protocol):
    """The WebSocket of a machine."""

    def attach(self, receiver: "Machine | None") -> None: ...

    def write(self, message: str | bytes) -> None: ...


class Machine:
    """One connection of a machine: the receiver of its WebSocket.

    Attributes:
        sandbox: The id of the sandbox.
        unit: Its unit.
        runtime: The id of the runtime on the machine.
        running: Whether the rows say that this runtime is the sandbox.
        ended: Set when the WebSocket is to be closed, or is closed.
        left: Why the machine will not connect again; None: it may.
        problem: What it has sent that is not allowed.
    """

    def __init__(self, socket: MachineSocket, *, sandbox: str, unit: str, runtime: str) -> None:
        self.sandbox = sandbox
        self.unit = unit
        self.runtime = runtime
        self.running = False
        self.ended = asyncio.Event()
        self.left: str | None = None
        self.problem: RemoteProtocolError | None = None
        self._socket = socket
        self._transport: MachineTransport | None = None

    @property
    def free(self) -> bool:
        """Whether it carries no link yet."""
        return self.running and self._transport is None and not self.ended.is_set()

    def begin(self, link: L) -> L:
        """Carry a link from now on, and return it."""
        transport = self._transport = MachineTransport(self._socket, link, self.ended.set)
        link.connection_made(transport)
        return link

    def quit(self, reason: str) -> None:
        """Ask the machine to end everything of the sandbox, and not to connect again."""
        if not self.ended.is_set():
            self._socket.write(encode_join(Quit(reason=reason)))
            self._socket.resume_reading()  # the link may have paused it, and its answer must be read

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
                raise RemoteProtocolError("a binary message before the gateway has sent one")
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
    """The machines of one gateway, by their units.

    Attributes:
        connections: How many connections of machines were accepted since the gateway was started.
        reconnections: How many of them were of a machine that had been connected before, with the same runtime.
    """

    def __init__(self) -> None:
        self.connections = 0
        self.reconnections = 0
        self._runtimes: dict[
            str, str
        ] = {}  # of the machines that were connected last, by their units, until these are deleted
        self._machines: dict[str, Machine] = {}
        self._changed = asyncio.Event()

    def get(self, unit: str) -> Machine | None:
        """Return the machine of a unit; None: none is connected."""
        return self._machines.get(unit)

    def all(self) -> list[Machine]:
        """Return the machines that are connected."""
        return list(self._machines.values())

    def add(self, machine: Machine) -> None:
        """Add a machine. An earlier connection of the same runtime, which was lost unnoticed, ends.

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
        """Remove a machine. Returns False if another connection has taken its place."""
        if self._machines.get(machine.unit) is not machine:
            return False
        del self._machines[machine.unit]
        self.notify()
        return True

    def forget(self, unit: str) -> None:
        """Forget a unit that was deleted."""
        self._runtimes.pop(unit, None)

    def notify(self) -> None:
        """Look again who may carry a link."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def connect(self, unit: str, make: Callable[[], L]) -> L:
        """Wait until the machine of a unit can carry a link, and return the link. The caller bounds the time."""
        while (machine := self._machines.get(unit)) is None or not machine.free:
            await self._changed.wait()
        return machine.begin(make())

    async def quit(self, unit: str, reason: str) -> None:
        """End the sandbox on its machine, if one is connected, and wait until it has said so.

        A machine that does not answer within `QUIT_TIMEOUT` is disconnected: it is refused when it connects again.
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
