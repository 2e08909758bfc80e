"""Registers this machine with a gateway as a sandbox: connects, and reconnects after network failures.

The runtime outlives every connection, so programs keep running, and clients resume at the exact byte where they left
off.
"""

import asyncio
import getpass
import hashlib
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Final, TypeVar

from websockets.exceptions import ConnectionClosed

from hawse.client.base.backoff import Backoff
from hawse.client.base.errors import RefusedError
from hawse.client.base.options import Options
from hawse.client.connection.dial import Authorities, DialError, address, dial, trust
from hawse.machine.own_runtime import OwnRuntime
from hawse.machine.relay import Relay
from hawse.wire import HawseError
from hawse.wire.join import JOIN_PATH, JOIN_SUBPROTOCOL, Quit, Refused

T = TypeVar("T")

RESTARTS: Final = 5  # number of times a failing runtime is restarted before the machine gives up
ENDED: Final = "the machine's user has ended it"
LEAVE_TIMEOUT: Final = 5.0  # timeout for telling the gateway that the machine is leaving, in seconds


class MachineState(Enum):
    """A machine's state."""

    CONNECTING = "connecting"
    JOINED = "joined"
    WAITING = "waiting"  # waiting for the next attempt to connect


StateCallback = Callable[[MachineState, str], None]


class Machine:
    """This machine as a sandbox. `run` can only be called once."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None,
        sandbox: str | None = None,
        directory: Path = Path(),
        ca: Authorities = None,
        state: Path | None = None,
        options: Options | None = None,
        on_state: StateCallback = lambda state, text: None,
    ) -> None:
        """Prepare the machine without starting anything.

        Args:
            url: The gateway's address.
            token: A token with the `join` right for the sandbox.
            sandbox: The sandbox's id; None means the token's only sandbox.
            directory: The directory where programs start.
            ca: The certificates to trust; None means the system's.
            state: The directory for the runtime's own files. None means a directory for this gateway, sandbox and
                directory.
            options: The delays between connection attempts.
            on_state: Called with each state: `JOINED` with the id of the sandbox, `WAITING` with a reason.

        Raises:
            ValueError: The address or the certificates cannot be used.
        """
        self._uri = address(url, JOIN_PATH)
        self._tls = trust(ca)
        self._token = token
        self._sandbox = sandbox
        self._directory = directory.resolve()
        self._options = options or Options()
        self._on_state = on_state
        key = f"{self._uri} {sandbox or token} {self._directory}"
        self.state_directory = state or state_directory(key)
        self.name = f"{getpass.getuser()}@{socket.gethostname()}:{self._directory}"[:256]
        self._runtime = OwnRuntime(self.state_directory, self._directory, sandbox or "joined")
        self._stop = asyncio.Event()

    async def run(self) -> str:
        """Serve the sandbox until `stop` is called or the gateway ends it. Returns after all programs in it have
        exited.

        Returns:
            Why the sandbox ended.

        Raises:
            HawseError: The gateway permanently refused the machine, or the runtime failed to start.
        """
        try:
            await self._runtime.start()
            return await self._stay()
        finally:
            await self._runtime.stop()

    def stop(self) -> None:
        """Make `run` end all programs in the sandbox, notify the gateway, and return."""
        self._stop.set()

    async def _stay(self) -> str:
        options = self._options
        backoff = Backoff(base=options.backoff_base, cap=options.backoff_cap, dice=options.dice)
        restarts = 0
        while not self._stop.is_set():
            began = options.clock()
            self._on_state(MachineState.CONNECTING, "")
            outcome = await self._connect_once()
            if isinstance(outcome, Quit):
                return outcome.reason
            if options.clock() - began >= options.stable:
                backoff.reset()
                restarts = 0
            if not self._runtime.alive and not self._stop.is_set():
                restarts += 1
                if restarts > RESTARTS:
                    raise HawseError("unavailable", f"the runtime has ended {restarts} times")
                outcome = f"the runtime has ended with code {await self._runtime.ended()}, and was restarted"
                await self._runtime.start()
            if not self._stop.is_set():
                self._on_state(MachineState.WAITING, outcome)
                await self._unless_stopped(options.sleep(backoff.next()))
        return ENDED

    async def _connect_once(self) -> str | Quit:
        """Connect, and relay data until the connection ends. Returns the reason; a `Quit` means that the sandbox has
        ended.
        """
        options = self._options
        try:
            attempt = dial(
                self._uri,
                token=self._token,
                timeout=options.connect_timeout,
                tls=self._tls,
                subprotocol=JOIN_SUBPROTOCOL,
                ping=options.ping_interval,
            )
            websocket = await self._unless_stopped(attempt)
        except DialError as error:
            return str(error)
        if websocket is None:
            return ENDED
        async with websocket:
            relay = Relay(websocket, self._runtime)
            try:
                answer = await self._unless_stopped(relay.join(self._sandbox, self.name))
            except (ConnectionClosed, TimeoutError) as error:
                return f"the gateway has not answered: {error}"
            if answer is None:
                return ENDED
            if isinstance(answer, Refused):
                return _again(answer)
            self._sandbox = answer.sandbox
            self._on_state(MachineState.JOINED, answer.sandbox)
            order = await self._carry(relay)
        if isinstance(order, Refused):
            return _again(order)
        return order or "the connection was lost"

    async def _carry(self, relay: Relay) -> Quit | Refused | None:
        """Relay data until the connection ends. If the result is a `Quit`, all programs in the sandbox have exited."""
        order: Quit | Refused | HawseError | None
        async with asyncio.TaskGroup() as tasks:
            stopping = tasks.create_task(self._end_when_stopped(relay))
            try:
                order = await relay.run(tasks)
            except HawseError as error:
                order = error
            finally:
                stopping.cancel()
        if isinstance(order, HawseError):
            raise order
        if isinstance(order, Quit):
            await self._end(relay, order.reason)
        return order

    async def _end_when_stopped(self, relay: Relay) -> None:
        await self._stop.wait()
        await self._end(relay, ENDED)

    async def _end(self, relay: Relay, reason: str) -> None:
        relay.stopping()
        await self._runtime.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_TIMEOUT):
                await relay.leave(reason)

    async def _unless_stopped(self, work: Awaitable[T]) -> T | None:
        """Return the result of `work`, or None if `stop` was called first. Raises any error that `work` raises."""
        async with asyncio.TaskGroup() as tasks:
            stopped = tasks.create_task(self._stop.wait())
            working = tasks.create_task(_outcome(work))
            await asyncio.wait((stopped, working), return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            if not working.done():
                working.cancel()
                return None
        result, error = working.result()
        if error is not None:
            raise error
        return result


async def _outcome(work: Awaitable[T]) -> tuple[T | None, Exception | None]:
    """Return `(result, None)` or `(None, error)`. An error raised in a task group would be wrapped in an exception
    group.
    """
    try:
        return await work, None
    except Exception as error:
        return None, error


def _again(refused: Refused) -> str:
    """Return why the machine must reconnect. Raises `RefusedError` if reconnecting would be pointless."""
    if not refused.retryable:
        raise RefusedError(refused.code, refused.message)
    return refused.message


def state_directory(key: str) -> Path:
    """Return the directory for the runtime's own files, below XDG_STATE_HOME or ~/.local/state.

    Args:
        key: Identifies the directory's purpose. It can contain a token, because only its digest is used.
    """
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "hawse" / "join" / hashlib.sha256(key.encode()).hexdigest()[:24]
