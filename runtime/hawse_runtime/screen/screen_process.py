"""The screen process from the runtime's side: started when it is first needed, and started again after a crash.

Requests that it has not answered when it ends are lost. `ScreenTracker` repeats them.
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
BACKLOG = 256 << 20  # bytes of unread requests: IN_FLIGHT of them, each with the largest screen, have 160 MB
IN_FLIGHT = 8  # requests without an answer: it has work while an answer is on its way; 2 MiB of output at most
WARM_DELAY = 1.0  # seconds from the first viewer to the start: the shell and the page have started by then


class ScreenLimits(msgspec.Struct, frozen=True, kw_only=True):
    """When a screen process is given up."""

    restarts: int = 10  # within `window`; after them, no other one is started for so long
    window: float = 60.0  # seconds
    hang: float = 30.0  # seconds without an answer after which it is killed, for example because it was stopped


class ScreenClient(Protocol):
    """A user of screens."""

    def proceed(self) -> None:
        """Called when it may send a request, after it was refused a turn or the process has ended."""
        ...

    def lost(self, *, at_fault: bool) -> None:
        """The process has ended, with the screens of all clients. `at_fault`: it was working for this one."""
        ...


class Screens(Protocol):
    """What serves the requests of clients, in their order."""

    @property
    def available(self) -> bool:
        """Whether requests are served. If not, clients are called when they are served again."""
        ...

    def new_number(self) -> int:
        """Return a number for a screen."""
        ...

    def take_turn(self, client: ScreenClient) -> bool:
        """Return whether `client` may send a request now. If not, it is called later."""
        ...

    def send(self, client: ScreenClient, request: AnyRequest, done: Callable[[Answer], None]) -> None:
        """Send a request. `done` is called with its answer, unless `client.lost` is called before."""
        ...

    def leave(self, client: ScreenClient) -> None:
        """Forget `client`, which has closed its screen."""
        ...


class ScreenProcess:
    """A `Screens` in a process of its own."""

    def __init__(self, python: Sequence[str], limits: ScreenLimits = ScreenLimits()) -> None:
        """`python`: the command that runs a Python module."""
        self._python = python
        self.limits = limits
        self._number = 0
        self._clients: dict[ScreenClient, None] = {}
        self._waiting: dict[ScreenClient, None] = {}  # for a turn; the first one asked first
        # The requests without an answer; those of a client that has left have none.
        self._outstanding: deque[tuple[ScreenClient | None, Callable[[Answer], None]]] = deque()
        self._running: ChildServer | None = None
        self._ready = False  # the running process has started to serve requests
        self._ends: deque[float] = deque(maxlen=limits.restarts)  # when processes have ended by themselves
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._failing = False  # the process could not be started, which the clients do not know yet
        self._answers = 0  # received, of all processes
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process; None while there is none."""
        return None if self._running is None else self._running.pid

    @property
    def available(self) -> bool:
        full = len(self._ends) == self.limits.restarts
        return not self._closed and not (full and time.monotonic() - self._ends[0] < self.limits.window)

    def new_number(self) -> int:
        self._number += 1
        return self._number

    def warm_soon(self) -> None:
        """Start the process soon, because a snapshot will be wanted."""
        if self._running is None and not self._closed and "warm" not in self._timers:
            self._timers["warm"] = asyncio.get_running_loop().call_later(WARM_DELAY, self.warm_up)

    def warm_up(self) -> None:
        """Start the process now, unless it runs."""
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
        """End the process; return when it has ended."""
        self._closed = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        if self._running is not None:
            self._running.kill()
            await self._running.gone.wait()

    # ---- the process

    def _start(self) -> bool:
        """Start the process unless it runs. If that fails, it counts as one that has ended."""
        if self._running is not None:
            return True
        try:
            self._running = ChildServer(
                "screen process", self._spawn, self._received, self._exited, limit=ANSWER_LIMIT, backlog=BACKLOG
            )
        except (HawseError, OSError) as error:
            log.error("! the screen process was not started: %s", error)
            # Not now: the client that sends a request does not expect to be called meanwhile.
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
            raise ProtocolError("answer without a request")
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
        """Handle the end of the process, or a failure to start it. Once it was ready, a request may be the reason."""
        was_ready, self._ready = self._ready, False
        self._running, self._failing = None, False
        if self._closed:
            return
        self._ends.append(time.monotonic())
        outstanding, self._outstanding = self._outstanding, deque()
        log.error("! the screen process has ended (%s); %d requests are repeated", how, len(outstanding))
        at_fault = outstanding[0][0] if outstanding and was_ready else None
        clients = list(self._clients)
        for client in clients:
            client.lost(at_fault=client is at_fault)
        for client in clients:
            client.proceed()
        self._give_turns()
        if not self.available:
            log.error("! %d screen processes have ended: none is started for a while", self.limits.restarts)
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
        """Kill a process that does not answer for too long."""
        if "hang" not in self._timers:
            self._timers["hang"] = asyncio.get_running_loop().call_later(self.limits.hang, self._check, self._answers)

    def _check(self, answers: int) -> None:
        """`answers`: their number when the timer was started."""
        del self._timers["hang"]
        if self._outstanding and self._answers == answers:
            log.error("! the screen process does not answer, so it is killed")
            self._kill()
        elif self._outstanding:
            self._watch()


def _ignore(answer: Answer) -> None:
    """Ignore the answer to a client that has left."""
