"""Counts call errors by code, and measures how long it takes to create sandboxes."""

import time
from collections import Counter
from typing import Final

from hawse.wire import HawseError, Result
from hawse.wire.errors import ERRORS
from hawse_gateway.core.durations import Durations
from hawse_gateway.metrics.prometheus_text import Exposition, Family, Histogram
from hawse_gateway.upstream.observer import ObservedCall

CREATE: Final = "sandbox.create"
NO_ERRORS: Final = frozenset({"ok", "cancelled"})  # outcomes that don't count as errors
OTHER: Final = "other"  # replaces codes that this version doesn't know, because a sandbox can send any number of them
BOUNDS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)  # in seconds


class CallMetrics:
    """An observer of calls (`CallObserver`)."""

    def __init__(self) -> None:
        self._open: dict[ObservedCall, float] = {}  # start time of each open call; bounded by the number of channels
        self._errors: Counter[str] = Counter()
        self._creation_errors: Counter[str] = Counter()
        self._creations = Durations(BOUNDS)

    def began(self, call: ObservedCall, sandbox: str | None) -> None:
        self._open[call] = time.monotonic()

    def ended(self, call: ObservedCall, outcome: str, result: Result | None = None) -> None:
        started = self._open.pop(call, None)
        if started is None:
            return
        if outcome not in NO_ERRORS:
            self._count(call, outcome)
        elif outcome == "ok" and call.call.method == CREATE:
            self._creations.add(time.monotonic() - started)

    def refused(self, call: ObservedCall, sandbox: str | None, error: HawseError) -> None:
        self._count(call, error.code)

    def _count(self, call: ObservedCall, code: str) -> None:
        code = code if code in ERRORS else OTHER
        self._errors[code] += 1
        if call.call.method == CREATE:
            self._creation_errors[code] += 1

    async def collect(self, out: Exposition) -> None:
        errors = Family("hawse_call_errors_total", "counter", "Calls that ended with an error, by error code.")
        failed = Family("hawse_creation_errors_total", "counter", "Failed sandbox creations, by error code.")
        created = Family("hawse_creation_seconds", "histogram", "Time to create and start a sandbox.")
        out.add(errors, [({"code": code}, count) for code, count in sorted(self._errors.items())])
        out.add(failed, [({"code": code}, count) for code, count in sorted(self._creation_errors.items())])
        durations = self._creations
        out.add(created, [({}, Histogram(durations.bounds, durations.counts, durations.total))])
