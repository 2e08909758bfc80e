"""Reports the proxy's decisions to watchers, and keeps recent refusals. If a watcher is too slow, it misses decisions.
Missed decisions are counted.
"""

import asyncio
from collections import deque
from typing import Final

from hawse.api.egress import EgressLost, EgressRefusal, EgressRequest

QUEUE: Final = 512  # maximum number of decisions queued for a watcher
RECENT: Final = 100  # number of recent refusals kept


class Watcher:
    """A watcher that receives decisions. Call `next` in a loop.

    Args:
        allowed: Whether to include forwarded requests.
    """

    def __init__(self, *, allowed: bool) -> None:
        self._allowed = allowed
        self._waiting: deque[EgressRequest] = deque()
        self._lost = 0
        self._added = asyncio.Event()

    def add(self, request: EgressRequest) -> None:
        """Queue a decision, or count it as lost if the queue is full."""
        if request.allowed and not self._allowed:
            return
        if len(self._waiting) >= QUEUE:
            self._lost += 1
            return
        self._waiting.append(request)
        self._added.set()

    async def next(self) -> list[EgressRequest | EgressLost]:
        """Wait for decisions, and return all that are queued."""
        await self._added.wait()
        self._added.clear()
        found: list[EgressRequest | EgressLost] = [*self._waiting]
        self._waiting.clear()
        if self._lost:
            found.append(EgressLost(count=self._lost))
            self._lost = 0
        return found


class Watchers:
    """All watchers of one proxy.

    Attributes:
        recent: Recent refusals, oldest first.
    """

    def __init__(self) -> None:
        self.recent: deque[EgressRefusal] = deque(maxlen=RECENT)
        self._all: set[Watcher] = set()

    def __len__(self) -> int:
        return len(self._all)

    def refused(self, refusal: EgressRefusal) -> None:
        """Report a refusal."""
        self.recent.append(refusal)
        self._report(
            EgressRequest(
                time=refusal.time, reason=refusal.reason, host=refusal.host, port=refusal.port, method=refusal.method
            )
        )

    def allowed(self, time: float, host: str, port: int, method: str) -> None:
        """Report a forwarded request."""
        if self._all:
            self._report(EgressRequest(time=time, allowed=True, host=host, port=port, method=method))

    def join(self, *, allowed: bool) -> Watcher:
        """Add a watcher that receives all subsequent decisions, and return it."""
        watcher = Watcher(allowed=allowed)
        self._all.add(watcher)
        return watcher

    def leave(self, watcher: Watcher) -> None:
        """Remove a watcher."""
        self._all.discard(watcher)

    def _report(self, request: EgressRequest) -> None:
        for watcher in self._all:
            watcher.add(request)
