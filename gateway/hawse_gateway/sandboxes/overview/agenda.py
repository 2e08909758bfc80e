"""Tracks which sandboxes need the supervisor's attention, so that it doesn't have to read or compare all rows.

The index reports changed sandboxes. Due times are sorted, so the time needed to find the sandboxes that are due doesn't
depend on the total number of sandboxes.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from operator import itemgetter

from hawse_gateway.core.sorted_lists import merge
from hawse_gateway.sandboxes.overview.index import RunSummary, SandboxIndex, Summary
from hawse_gateway.sandboxes.steps import Step, step_towards
from hawse_gateway.store.clock import Clock, Moment

Entry = tuple[float, str, bool]  # seconds, a sandbox id, and whether the seconds are counted since this boot


class DueTimes:
    """Due times, keyed by sandbox id. Setting, removing or finding one takes logarithmic time.

    Times from other boots are compared with the current wall clock, as in `Clock.until`.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._boot = clock.now().boot
        self._uptimes: list[Entry] = []  # times from the current boot, in seconds since boot
        self._walls: list[Entry] = []  # times from other boots, in seconds since 1970
        self._entries: dict[str, Entry] = {}
        self._added: tuple[list[Entry], list[Entry]] = ([], [])  # entries that are not in the two lists yet

    def __len__(self) -> int:
        return len(self._entries)

    def set(self, id: str, moment: Moment) -> None:
        here = moment.boot == self._boot
        entry = (moment.uptime if here else moment.wall, id, here)
        if self._entries.get(id) == entry:
            return
        self.discard(id)
        self._entries[id] = entry
        self._added[not here].append(entry)

    def discard(self, id: str) -> None:
        if (entry := self._entries.pop(id, None)) is not None:
            self._merge()
            times = self._uptimes if entry[2] else self._walls
            del times[bisect_left(times, entry)]

    def until(self, id: str) -> float | None:
        """Return the number of seconds until a sandbox is due, or None if no time is set for it."""
        if (entry := self._entries.get(id)) is None:
            return None
        now = self._clock.now()
        return entry[0] - (now.uptime if entry[2] else now.wall)

    def due(self) -> list[str]:
        """Return the ids that are due, without removing them."""
        self._merge()
        now = self._clock.now()
        return [
            id
            for times, time in ((self._uptimes, now.uptime), (self._walls, now.wall))
            for _, id, _ in times[: bisect_right(times, time, key=itemgetter(0))]
        ]

    def _merge(self) -> None:
        for times, added in zip((self._uptimes, self._walls), self._added, strict=True):
            merge(times, added, key=_itself)


class Agenda:
    """The sandboxes that need attention, or will need it at a certain time.

    Attributes:
        unsettled: The ids of sandboxes that haven't reached their desired state, and units whose run has no sandbox.
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
        if sandbox is None and self._index.sandbox_at(unit) is not None:  # the unit belongs to another sandbox
            self.unsettled.discard(id)
            self._note_times(id, None, None)
            return
        current = sandbox is not None and run is not None and sandbox.generation == run.generation
        step = step_towards(
            None if sandbox is None else sandbox.wanted, None if run is None else run.state, current=current
        )
        _keep(self.unsettled, id, step is not Step.NONE)
        settled = current and step is Step.NONE
        at = run.provider if settled and run is not None else None
        if at is not None:
            self.live[at].add(unit)
        for provider, units in self.live.items():
            _keep(units, unit, provider == at)
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
            # A wait above the timeout must come from a gateway whose clock was ahead, so it is ignored.
            self.idle.set(id, self._clock.now().after(wait if wait <= timeout else 0.0))


def _itself(entry: Entry) -> Entry:
    return entry


def _keep(ids: set[str], id: str, wanted: bool) -> None:
    if wanted:
        ids.add(id)
    else:
        ids.discard(id)
