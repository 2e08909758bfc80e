"""Serves `port.listen`, a port in the sandbox. The caller accepts its connections one by one with `port.accept`."""

import asyncio
import errno
import secrets
import socket
from collections import deque
from collections.abc import Callable
from typing import Final

from hawse.api.ports import PortIncoming, PortListening
from hawse.rpc import typed
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, HawseError
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.ports.tunnel import Dial, TunnelStream

ADDRESS: Final = "127.0.0.1"
LOWEST: Final = 1024  # lower ports are refused, because the runtime may have more privileges than programs
WAITING: Final = 64  # maximum number of connections waiting for `port.accept`; further connections wait in the kernel
ACCEPT_TIMEOUT: Final = 30.0  # number of seconds that a connection waits for `port.accept`


class WaitingConnection:
    """A connection from a program that the caller hasn't accepted yet."""

    def __init__(self, raw: socket.socket, address: str, port: int, timer: asyncio.TimerHandle) -> None:
        self.raw = raw
        self.address = address
        self.port = port
        self._timer = timer

    def take(self) -> Dial:
        """Return a function that attaches the connection to a stream."""
        self._timer.cancel()

        async def dial(stream: TunnelStream) -> None:
            stream.address = self.address
            try:
                await asyncio.get_running_loop().connect_accepted_socket(lambda: stream, self.raw)
            except BaseException:
                self.raw.close()
                raise

        return dial

    def close(self) -> None:
        self._timer.cancel()
        self.raw.close()


class PortListener(OutputOnlyStream):
    """A listening port, open until its call ends.

    Attributes:
        port: The port number.
        principal: The caller's id.
    """

    def __init__(
        self, call: ServerCall, port: int, tasks: Tasks, on_detach: Callable[["PortListener"], object]
    ) -> None:
        """Start listening.

        Args:
            call: The call to serve.
            port: The port number; 0 means any free port.
            tasks: Owns the task that accepts connections.
            on_detach: Called once the call has ended.

        Raises:
            HawseError: `invalid_params`, `conflict` or `unavailable`.
        """
        super().__init__(call)
        if 0 < port < LOWEST:
            raise HawseError("invalid_params", f"port {port} must be at least {LOWEST}", details={"path": "$.port"})
        try:
            self._socket = socket.create_server((ADDRESS, port), backlog=WAITING)
        except OSError as error:
            code = "conflict" if error.errno == errno.EADDRINUSE else "unavailable"
            reason = "is in use" if code == "conflict" else error.strerror or str(error)
            raise HawseError(code, f"port {port} {reason}", details={"port": port}) from error
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]
        self.principal = call.principal.id
        self._on_detach = on_detach
        self._waiting: dict[str, WaitingConnection] = {}
        self._room = asyncio.Event()
        self._announced = False
        self._events: deque[PortIncoming] = deque()  # unsent events for connections in `_waiting`
        self._task = tasks.start(self._accept())

    def take(self, connection: str) -> WaitingConnection | None:
        """Remove and return a waiting connection, or None if the id is unknown."""
        found = self._waiting.pop(connection, None)
        self._room.set()
        return found

    def cut(self, error: HawseError) -> None:
        """End the call with `error` and close the port."""
        self._call.error(error)

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        while connection.window(ch) > 0:
            if not self._announced:
                self._announced = True
                connection.send_event(ch, "listening", PortListening(port=self.port, address=ADDRESS))
            elif self._events:
                event = self._events.popleft()
                if event.connection in self._waiting:  # false if the connection has waited too long
                    connection.send_event(ch, "connection", event)
            else:
                break
        return False

    def detach(self) -> None:
        self._task.cancel()
        self._socket.close()
        for waiting in self._waiting.values():
            waiting.close()
        self._waiting.clear()
        self._on_detach(self)

    # ---- internals

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while True:
                while len(self._waiting) >= WAITING:
                    self._room.clear()
                    await self._room.wait()
                raw, (host, port) = await loop.sock_accept(self._socket)
                id = secrets.token_hex(8)
                timer = loop.call_later(ACCEPT_TIMEOUT, self._give_up, id)
                address = f"{host}:{port}"
                self._waiting[id] = WaitingConnection(raw, address, self.port, timer)
                self._events.append(PortIncoming(connection=id, address=address))
                self.wake()
        except Exception as error:  # for example, because no descriptor is free
            self._call.error(typed(error))

    def _give_up(self, id: str) -> None:
        if (waiting := self.take(id)) is not None:
            waiting.close()
