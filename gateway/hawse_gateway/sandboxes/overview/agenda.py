"""Keeps the sandboxes that need the supervisor's attention, so that the supervisor doesn't read or compare all rows.

The index reports changed sandboxes. Times are kept in order, so finding the ones that are due doesn't depend on the
number of sandboxes.
"""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from typing import Final

from hawse_gateway.sandboxes.overview.index import RunSummary, SandboxIndex, Summary
from hawse_gateway.sandboxes.steps import Step, step_towards
from hawse_gateway.store.clock import Clock, Moment

LAST: Final = "\U0010ffff"  # sorts after all ids


class DueTimes:
    """Moments keyed by sandbox id. Setting, removing and finding one takes logarithmic time.

    Moments from other boots are compared with the current wall clock, like in `Clock.until`.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._boot = clock.now().boot
        self._uptimes: list[tuple[float, str]] = []  # moments of this boot, in seconds since boot
        self._walls: list[tuple[float, str]] = []  # other moments, in seconds since 1970
        self._moments: dict[str, Moment] = {}

    def __len__(self) -> int:
        return len(self._moments)

    def set(self, id: str, moment: Moment) -> None:
        if self._moments.get(id) == moment:
            return
        self.discard(id)
        self._moments[id] = moment
        times, entry = self._entry(id, moment)
        insort(times, entry)

    def discard(self, id: str) -> None:
        if (moment := self._moments.pop(id, None)) is not None:
            times, entry = self._entry(id, moment)
            del times[bisect_left(times, entry)]

    def until(self, id: str) -> float | None:
        """Return the number of seconds until a sandbox is due, or None if it has no moment."""
        moment = self._moments.get(id)
        return None if moment is None else self._clock.until(moment)

    def due(self) -> list[str]:
        """Return the ids whose moment has passed. They remain due."""
        now = self._clock.now()
        return [
            id
            for times, time in ((self._uptimes, now.uptime), (self._walls, now.wall))
            for _, id in times[: bisect_right(times, (time, LAST))]
        ]

    def _entry(self, id: str, moment: Moment) -> tuple[list[tuple[float, str]], tuple[float, str]]:
        """Return the list for a moment, and its entry."""
        if moment.boot == self._boot:
            return self._uptimes, (moment.uptime, id)
        return self._walls, (moment.wall, id)


class Agenda:
    """The sandboxes that need attention, or will need it at a certain time.

    Attributes:
        unsettled: The ids of sandboxes that haven't reached their wanted state, and units whose run has no sandbox.
        live: The units whose runtime should be running or paused, keyed by provider.
        filtered: The ids of sandboxes that are running in a filtered network.
        expiring: When sandboxes expire.
        idle: The earliest time when sandboxes can go to sleep.
    """

    def __init__(self, index: SandboxIndex, clock: Clock) -> None:
        """Create an empty agenda. The index fills it."""
        self.unsettled: set[str] = set()
        self.live: defaultdict[str, set[str]] = defaultdict(set)
        self.filtered: set[str] = set()
        self.expiring = DueTimes(clock)
        self.idle = DueTimes(clock)
        self._index = index
        self._clock = clock
        index.listen(self._note)

    def _note(self, id: str) -> None:
        """Update all entries for a sandbox, or for a unit whose run has no sandbox."""
        sandbox = self._index.find(id)
        unit = id if sandbox is None else sandbox.unit
        run = self._index.run_at(unit)
        if sandbox is None and self._index.sandbox_at(unit) is not None:
            run = None  # it is the run of another sandbox
        current = sandbox is not None and run is not None and sandbox.generation == run.generation
        step = step_towards(
            None if sandbox is None else sandbox.wanted, None if run is None else run.state, current=current
        )
        _keep(self.unsettled, id, step is not Step.NONE)
        settled = current and step is Step.NONE
        for provider in {run.provider} if settled and run is not None else [*self.live]:
            _keep(self.live[provider], unit, settled)
        self._note_times(id, sandbox, run if settled else None)

    def _note_times(self, id: str, sandbox: Summary | None, run: RunSummary | None) -> None:
        running = run is not None and run.state == "running"
        _keep(self.filtered, id, sandbox is not None and sandbox.filtered and running)
        if sandbox is None or sandbox.expires is None or sandbox.wanted == "deleted":
            self.expiring.discard(id)
        else:
            self.expiring.set(id, sandbox.expires)
        if sandbox is None or run is None or sandbox.idle_timeout is None or sandbox.wanted != "running":
            self.idle.discard(id)
            return
        known, timeout = self.idle.until(id), sandbox.idle_timeout
        if known is None or known > timeout:
            wait = self._clock.until(run.since.after(timeout))
            # If the wait is longer than the timeout, it comes from a gateway whose clock was ahead.
            self.idle.set(id, self._clock.now().after(wait if wait <= timeout else 0.0))


def _keep(ids: set[str], id: str, wanted: bool) -> None:
    if wanted:
        ids.add(id)
    else:
        ids.discard(id)
