"""The runtime's side of the screen process, which is started on first use and restarted if it crashes.

If the process exits, its unanswered requests are lost. `ScreenTracker` repeats them.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from hawse.api.types import Exit
from hawse.wire import HawseError
from hawse_runtime.core.framing import ProtocolError
from hawse_runtime.posix.child_server import ChildServer
from hawse_runtime.posix.spawn import spawn_own
from hawse_runtime.screen.requests import ANSWER_LIMIT, Answer, AnyRequest, decode_answer, framed

log = logging.getLogger(__name__)

MODULE = "hawse_runtime.screen.emulator.process"
BACKLOG = 256 << 20  # maximum size of unread requests, in bytes; IN_FLIGHT requests take up to 160 MB
IN_FLIGHT = 8  # maximum number of unanswered requests (up to 2 MiB of output); allowing several keeps the process busy
WARM_DELAY = 1.0  # seconds from the first viewer to startup; gives the shell and the page time to start first


class ScreenLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on failures of the screen process."""

    restarts: int = 10  # maximum number of restarts within `window`; after that, no restarts for another `window`
    window: float = 60.0  # seconds
    hang: float = 30.0  # seconds without a response before the process, which may be suspended, is killed


class ScreenClient(Protocol):
    """An object that uses a screen."""

    def proceed(self) -> None:
        """Called when the client can send a request, after `take_turn` returned False or the process exited."""
        ...

    def lost(self, *, at_fault: bool) -> None:
        """Called when the process has exited, losing all screens.

        `at_fault` is true if the process was serving this client.
        """
        ...


class Screens(Protocol):
    """Handles all clients' requests in order."""

    @property
    def available(self) -> bool:
        """Whether requests can be sent. If not, clients are notified once it becomes possible."""
        ...

    def new_number(self) -> int:
        """Return an unused screen number."""
        ...

    def take_turn(self, client: ScreenClient) -> bool:
        """Return whether `client` can send a request now. If not, its `proceed` is called once it can."""
        ...

    def send(self, client: ScreenClient, request: AnyRequest, done: Callable[[Answer], None]) -> None:
        """Send a request. `done` is called with the response, unless `client.lost` is called first."""
        ...

    def leave(self, client: ScreenClient) -> None:
        """Remove `client`, which must have closed its screen."""
        ...


class ScreenProcess:
    """Implements `Screens` with a separate process."""

    def __init__(self, python: Sequence[str], limits: ScreenLimits = ScreenLimits()) -> None:
        """Create the instance without starting the process. `python` is the command for running a Python module."""
        self._python = python
        self.limits = limits
        self._number = 0
        self._clients: dict[ScreenClient, None] = {}
        self._waiting: dict[ScreenClient, None] = {}  # clients waiting for a turn, oldest first
        # The unanswered requests, oldest first, each with its client, or None if the client has left.
        self._outstanding: deque[tuple[ScreenClient | None, Callable[[Answer], None]]] = deque()
        self._running: ChildServer | None = None
        self._ready = False  # whether a process is running and accepting requests
        self._ends: deque[float] = deque(maxlen=limits.restarts)  # times when processes exited unexpectedly
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._failing = False  # whether the process could not be started and clients have yet to be notified
        self._answers = 0  # number of responses received from all processes
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process id, or None while no process is running."""
        return None if self._running is None else self._running.pid

    @property
    def available(self) -> bool:
        full = len(self._ends) == self.limits.restarts
        return not self._closed and not (full and time.monotonic() - self._ends[0] < self.limits.window)

    def new_number(self) -> int:
        self._number += 1
        return self._number

    def warm_soon(self) -> None:
        """Start the process after a short delay, because a snapshot will be needed."""
        if self._running is None and not self._closed and "warm" not in self._timers:
            self._timers["warm"] = asyncio.get_running_loop().call_later(WARM_DELAY, self.warm_up)

    def warm_up(self) -> None:
        """Start the process unless it is running."""
        if (timer := self._timers.pop("warm", None)) is not None:
            timer.cancel()
        if self.available:
            self._start()

    def take_turn(self, client: ScreenClient) -> bool:
        if self.available and not self._failing and len(self._outstanding) < IN_FLIGHT:
            return True
        self._waiting[client] = None
        return False

    def send(self, client: ScreenClient, request: AnyRequest, done: Callable[[Answer], None]) -> None:
        self._clients[client] = None
        self._outstanding.append((client, done))
        if self._start() and self._running is not None:
            self._running.send(framed(request))
            self._watch()

    def leave(self, client: ScreenClient) -> None:
        self._clients.pop(client, None)
        self._waiting.pop(client, None)
        ours = enumerate(self._outstanding)
        for index in [index for index, (other, _) in ours if other is client]:
            self._outstanding[index] = None, _ignore

    async def close(self) -> None:
        """End the process and wait for it to exit."""
        self._closed = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        if self._running is not None:
            self._running.kill()
            await self._running.gone.wait()

    # ---- the process

    def _start(self) -> bool:
        """Start the process unless it is running. A failed start is handled as if the process had exited."""
        if self._running is not None:
            return True
        try:
            self._running = ChildServer(
                "screen process", self._spawn, self._received, self._exited, limit=ANSWER_LIMIT, backlog=BACKLOG
            )
        except (HawseError, OSError) as error:
            log.error("! cannot start the screen process: %s", error)
            # Defer the notification: a client that is sending a request doesn't expect a callback.
            self._failing = True
            asyncio.get_running_loop().call_soon(self._ended, str(error))
            return False
        return True

    def _spawn(self, connection: int) -> int:
        return spawn_own([*self._python, MODULE], extra=connection)

    def _received(self, message: bytes) -> None:
        answer = decode_answer(message)
        if not self._ready:
            self._ready = True
            return
        if not self._outstanding:
            raise ProtocolError("received an answer without a request")
        _, done = self._outstanding.popleft()
        self._answers += 1
        done(answer)
        self._give_turns()

    def _give_turns(self) -> None:
        while self._waiting and self.available and len(self._outstanding) < IN_FLIGHT:
            client = next(iter(self._waiting))
            del self._waiting[client]
            client.proceed()

    def _exited(self, exit: Exit) -> None:
        self._ended(exit.signal or f"exit code {exit.code}")

    def _ended(self, how: str) -> None:
        """Handle the process's exit or a failed start. If the process was ready, a request may be the cause."""
        was_ready, self._ready = self._ready, False
        self._running, self._failing = None, False
        if self._closed:
            return
        self._ends.append(time.monotonic())
        outstanding, self._outstanding = self._outstanding, deque()
        log.error("! the screen process has ended (%s); repeating %d requests", how, len(outstanding))
        at_fault = outstanding[0][0] if outstanding and was_ready else None
        clients = list(self._clients)
        for client in clients:
            client.lost(at_fault=client is at_fault)
        for client in clients:
            client.proceed()
        self._give_turns()
        if not self.available:
            log.error("! %d screen processes have ended; pausing restarts", self.limits.restarts)
            again = self._ends[0] + self.limits.window - time.monotonic()
            self._timers["again"] = asyncio.get_running_loop().call_later(again + 0.01, self._again)

    def _again(self) -> None:
        for client in list(self._clients):
            client.proceed()
        self._give_turns()

    def _kill(self) -> None:
        if self._running is not None:
            self._running.kill()

    def _watch(self) -> None:
        """Kill a process that has been silent for too long."""
        if "hang" not in self._timers:
            self._timers["hang"] = asyncio.get_running_loop().call_later(self.limits.hang, self._check, self._answers)

    def _check(self, answers: int) -> None:
        """Kill the process unless an answer has arrived since there were `answers` of them."""
        del self._timers["hang"]
        if self._outstanding and self._answers == answers:
            log.error("! the screen process is not responding; killing it")
            self._kill()
        elif self._outstanding:
            self._watch()


def _ignore(answer: Answer) -> None:
    """Ignore a response meant for a client that has left."""
