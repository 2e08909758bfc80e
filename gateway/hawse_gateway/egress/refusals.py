"""Keeps the proxy's refusals until the gateway has logged them. Their number and rate are limited."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Final

import msgspec

from hawse.api.egress import EgressReason, EgressRefusal
from hawse_gateway.egress.watchers import Watchers

BATCH: Final = 256  # maximum number of refusals in a response
KEPT: Final = 1024  # maximum number of refusals kept for the gateway
BURST: Final = 100  # maximum number of refusals recorded in a burst, before RATE per second applies
RATE: Final = 5.0
HOST_MAX: Final = 253
METHOD_MAX: Final = 32


class RefusedError(Exception):
    """A request is not allowed to leave the sandbox.

    Attributes:
        reason: The reason as a code, for clients and the audit log.
        message: The reason as text.
    """

    def __init__(self, reason: EgressReason, message: str) -> None:
        super().__init__(message)
        self.reason: EgressReason = reason
        self.message = message


class Counters(msgspec.Struct, kw_only=True):
    """A proxy's counters.

    Attributes:
        connections: The number of open connections from programs.
        requests: The number of requests forwarded.
        refused: The number of requests refused.
        sent: Body bytes sent to servers.
        received: Body bytes received from servers.
        cpu: CPU time, in seconds.
        memory: Resident memory, in bytes.
    """

    connections: int = 0
    requests: int = 0
    refused: int = 0
    sent: int = 0
    received: int = 0
    cpu: float = 0.0
    memory: int = 0


class Ask(msgspec.Struct, kw_only=True):
    """A gateway's request for refusals. It contains the number of the last refusal that the gateway has logged."""

    written: int = 0


class Answer(msgspec.Struct, kw_only=True):
    """The proxy's response to `Ask`.

    Attributes:
        last: The number of the last refusal in `refusals`, for the next `Ask`.
        refusals: The refusals not yet logged, oldest first.
        lost: The number of refusals dropped since the proxy started.
        counters: The counters since the proxy started.
    """

    last: int
    refusals: list[EgressRefusal]
    lost: int
    counters: Counters


class Refusals:
    """One sandbox's refusals.

    Args:
        clock: Returns seconds since 1970.
        elapsed: A monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.time, elapsed: Callable[[], float] = time.monotonic) -> None:
        self.counters = Counters()
        self.lost = 0
        self.watchers = Watchers()
        self._clock = clock
        self._elapsed = elapsed
        self._kept: deque[tuple[int, EgressRefusal]] = deque()
        self._number = 0
        self._tokens, self._filled = float(BURST), elapsed()
        self._added = asyncio.Event()

    def add(self, reason: EgressReason, host: str = "", port: int = 0, method: str = "") -> None:
        """Record a refusal."""
        now = self._elapsed()
        self.counters.refused += 1
        self._tokens = min(BURST, self._tokens + max(0.0, now - self._filled) * RATE)
        self._filled = now
        refusal = EgressRefusal(
            time=self._clock(), reason=reason, host=host[:HOST_MAX], port=port, method=method[:METHOD_MAX]
        )
        self.watchers.refused(refusal)
        if self._tokens < 1 or len(self._kept) >= KEPT:
            self.lost += 1
            return
        self._tokens -= 1
        self._number += 1
        self._kept.append((self._number, refusal))
        self._added.set()

    def passed(self, host: str, port: int, method: str) -> None:
        """Record a forwarded request."""
        self.counters.requests += 1
        self.watchers.allowed(self._clock(), host, port, method[:METHOD_MAX])

    def measured(self) -> Counters:
        """Return the counters, including the process's current usage."""
        self.counters.cpu, self.counters.memory = time.process_time(), _resident()
        return self.counters

    async def answer(self, ask: Ask, wait: float) -> Answer:
        """Delete the refusals that the gateway has logged. Wait at most `wait` seconds for new ones, and return
        them."""
        while self._kept and self._kept[0][0] <= ask.written:
            self._kept.popleft()
        if not self._kept:
            self._added.clear()
            try:
                async with asyncio.timeout(wait):
                    await self._added.wait()
            except TimeoutError:
                pass
        kept = list(islice(self._kept, BATCH))
        last = kept[-1][0] if kept else ask.written
        return Answer(last=last, refusals=[each for _, each in kept], lost=self.lost, counters=self.measured())


def _resident() -> int:
    """Return this process's resident memory in bytes (proc_pid_statm(5))."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
