"""Keeps a summary of each sandbox in memory, sorted by id, owner and label, and up to date with all gateways' changes.

Calls are checked, pages are found and sandboxes are counted without reading rows. The duration of a lookup does not
reveal whether a sandbox exists.
"""

import logging
import sys
from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Callable, Hashable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from hawse.api.rights import OWN, Right
from hawse.wire import Principal
from hawse_gateway.core.sorted_lists import merge
from hawse_gateway.core.turns import turns
from hawse_gateway.sandboxes.records import RUNS, SANDBOXES, RunState, Wanted, order
from hawse_gateway.store.base import Row, Store
from hawse_gateway.store.clock import Moment
from hawse_gateway.store.table_follower import TableFollower

log = logging.getLogger(__name__)

ADOPTED: Final = "adopted"  # key in the table `meta`; its row exists once all units have rows
EXAMINED: Final = 2000  # maximum number of summaries to compare with labels for one page

Listener = Callable[[str], None]
K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Summary(msgspec.Struct, frozen=True, gc=False):
    """The fields of `SandboxRecord` that are kept in memory. The labels are sorted."""

    id: str
    unit: str
    owner: str
    provider: str
    wanted: Wanted
    generation: str
    failed: bool
    filtered: bool
    pool: bool
    labels: tuple[tuple[str, str], ...]
    idle_timeout: float | None
    expires: Moment | None


class RunSummary(msgspec.Struct, frozen=True, gc=False):
    """The fields of `Run` that are kept in memory."""

    generation: str
    provider: str
    state: RunState
    since: Moment


class Scope(NamedTuple):
    """The sandboxes where a caller has a right: all sandboxes, or an owner's sandboxes and the ones with given ids."""

    everywhere: bool = True
    owner: str | None = None
    ids: frozenset[str] = frozenset()

    @classmethod
    def of(cls, caller: Principal) -> "Scope":
        """Return the sandboxes where a caller has rights. Must correspond to `hawse.api.rights.in_sandbox`."""
        places = {Right.parse(text).sandbox for text in caller.rights}
        ids = frozenset(place for place in places if place is not None and place != OWN)
        return cls(None in places, caller.id if OWN in places else None, ids)

    def includes(self, id: str, owner: str) -> bool:
        return self.everywhere or id in self.ids or (self.owner is not None and owner == self.owner)


EVERYWHERE: Final = Scope()


class SandboxIndex:
    """Summaries of all sandboxes and runs. Use it inside `async with index.running():`."""

    def __init__(self, store: Store) -> None:
        self._summaries: dict[str, Summary] = {}  # summaries, keyed by sandbox id
        self._runs: dict[str, RunSummary] = {}  # summaries of runs, keyed by unit
        self._at: dict[str, str] = {}  # sandbox ids keyed by unit; only units whose name differs from the id
        self._visible = _Sorted[None]()
        self._owned = _Sorted[str]()
        self._labelled = _Sorted[tuple[str, str]]()
        self._members: set[str] = set()
        self._listeners: list[Listener] = []
        self._loading = True  # nothing is reported until all rows have been read
        self._store = store
        self._sandbox_rows = TableFollower(store, SANDBOXES, self._put_sandbox, lambda: list(self._summaries))
        self._run_rows = TableFollower(store, RUNS, self._put_run, lambda: list(self._runs))

    @asynccontextmanager
    async def running(self) -> AsyncIterator["SandboxIndex"]:
        """Load the rows, and follow their changes. Raises `StoreError`."""
        await self._store.synced()  # otherwise, all rows would be read again once changes are reported
        stop = self._store.listen(self._note_row)
        try:
            async with self._sandbox_rows.running(), self._run_rows.running():
                await self._load()
                yield self
        finally:
            stop()

    async def current(self, *, runs: bool = False) -> None:
        """Return once the changes made before this call, by any gateway, are known. Raises `StoreError`.

        Args:
            runs: Whether changes to runs must be known too.
        """
        await self._sandbox_rows.current()
        if runs:
            await self._run_rows.current()

    def reload(self) -> None:
        """Read all rows again, because the store may have been emptied."""
        self._sandbox_rows.reload()
        self._run_rows.reload()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with the id of each sandbox whose rows may have changed, or with the name of a unit whose run
        has no sandbox. Return a function that removes the listener."""
        self._listeners.append(listener)

        def stop() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    # ---- lookup

    def find(self, sandbox: str) -> Summary | None:
        return self._summaries.get(sandbox)

    def run_at(self, unit: str) -> RunSummary | None:
        """Return the run of a unit."""
        return self._runs.get(unit)

    def is_running(self, sandbox: str) -> bool:
        """Return whether a sandbox exists, should be running, and is running."""
        found = self._summaries.get(sandbox)
        run = None if found is None else self._runs.get(found.unit)
        if found is None or run is None or found.generation != run.generation:
            return False
        return found.wanted == run.state == "running"

    def sandbox_at(self, unit: str) -> str | None:
        """Return the id of the sandbox, or the pool member, that has a unit."""
        if (id := self._at.get(unit)) is not None:
            return id
        found = self._summaries.get(unit)
        return unit if found is not None and found.unit == unit else None

    def is_used(self, unit: str) -> bool:
        """Return whether a unit has a run, belongs to a sandbox, or has the same name as a sandbox."""
        return unit in self._runs or unit in self._summaries or unit in self._at

    @property
    def visible(self) -> list[str]:
        """The ids of the sandboxes that clients can see."""
        return list(self._visible[None])

    @property
    def members(self) -> list[str]:
        """The ids of the pool members."""
        return sorted(self._members)

    def owns(self, principal: Principal, sandbox: str) -> bool:
        """Return whether a sandbox exists and the user owns it."""
        found = self._summaries.get(sandbox)
        return found is not None and not found.pool and found.owner == principal.id

    def count(self, user: str) -> int:
        """Return the number of sandboxes that a user owns."""
        return len(self._owned[user])

    def page(
        self, scope: Scope, labels: Mapping[str, str], after: str | None, limit: int
    ) -> tuple[list[str], str | None]:
        """Find sandboxes that clients can see.

        The work is limited: at most `EXAMINED` summaries are compared with `labels`.

        Args:
            scope: The sandboxes to choose from.
            labels: Labels that a sandbox must have.
            after: Return only sandboxes that come after this id.
            limit: The maximum number of sandboxes.

        Returns:
            The ids in order, and the value of `after` for the next page, which is None on the last page. This value is
            the id of a sandbox in `scope`.
        """
        pairs = list(labels.items())
        lists = [self._labelled[pair] for pair in pairs]
        if not all(lists):
            return [], None
        if scope.everywhere:
            candidates = _following(min((self._visible[None], *lists), key=len), after)
        else:
            candidates = self._in_scope(scope, after)
        found: list[str] = []
        for id in candidates[:EXAMINED]:
            summary = self._summaries[id]
            if not pairs or all(pair in summary.labels for pair in pairs):
                if len(found) == limit:
                    return found, found[-1]
                found.append(id)
        return found, candidates[EXAMINED - 1] if len(candidates) > EXAMINED else None

    def _in_scope(self, scope: Scope, after: str | None) -> list[str]:
        """Return a scope's first sandboxes after `after`. The scope must not be `EVERYWHERE`."""
        owned = [] if scope.owner is None else _following(self._owned[scope.owner], after)
        known = {id for id in scope.ids if id in self._summaries and not self._summaries[id].pool}
        others = {id for id in known if after is None or order(id) > order(after)}
        return sorted({*owned, *others}, key=order)[: EXAMINED + 1] if others else owned

    # ---- changes

    async def _load(self) -> None:
        """Sort the ids of the rows that were read, and report them."""
        for each in (self._visible, self._owned, self._labelled):
            each.sort()
        self._loading = False
        async for turn in turns({*self._summaries, *(self.sandbox_at(unit) or unit for unit in self._runs)}):
            for id in turn:
                self._notify(id)

    def _note_row(self, table: str, key: str) -> None:
        if (table, key) == ("meta", ADOPTED):
            self.reload()  # the store was emptied, and may not have reported the removed rows

    def _put_sandbox(self, id: str, row: Row | None) -> None:
        old = self._summaries.get(id)
        found = _decoded(id, row, _SandboxRow)
        if found is None:
            self._remove(id)
        else:
            self._set(_summary(found))
        new = self._summaries.get(id)
        for key in {id, *(each.unit for each in (old, new) if each is not None)}:  # the run's sandbox may have changed
            self._notify(key)

    def _set(self, new: Summary) -> None:
        old = self._summaries.get(new.id)
        if old is not None and _sorted_by(old) != _sorted_by(new):
            self._remove(old.id)
            old = None
        self._summaries[new.id] = new
        if old is not None:
            return  # the sandbox keeps its position in the sorted lists
        if new.unit != new.id:
            self._at[new.unit] = new.id
        if new.pool:
            self._members.add(new.id)
            return
        self._visible.add(None, new.id)
        self._owned.add(new.owner, new.id)
        for pair in new.labels:
            self._labelled.add(pair, new.id)

    def _remove(self, id: str) -> None:
        old = self._summaries.pop(id, None)
        if old is None:
            return
        if self._at.get(old.unit) == id:
            del self._at[old.unit]
        if old.pool:
            self._members.discard(id)
            return
        self._visible.remove(None, id)
        self._owned.remove(old.owner, id)
        for pair in old.labels:
            self._labelled.remove(pair, id)

    def _put_run(self, unit: str, row: Row | None) -> None:
        run = _decoded(unit, row, RunSummary)
        if run is None:
            self._runs.pop(unit, None)
        else:
            sandbox = self._summaries.get(self.sandbox_at(unit) or unit)
            if sandbox is not None and sandbox.generation == run.generation:
                run = msgspec.structs.replace(run, generation=sandbox.generation)  # shares the string with the summary
                unit = sandbox.unit
            shared = {"provider": sys.intern(run.provider), "since": _interned(run.since)}
            self._runs[unit] = msgspec.structs.replace(run, **shared)
        self._notify(self.sandbox_at(unit) or unit)

    def _notify(self, id: str) -> None:
        if not self._loading:
            for listener in list(self._listeners):
                listener(id)


class _Sorted(Generic[K]):
    """Sorted lists of sandbox ids, keyed by an owner or a label."""

    def __init__(self) -> None:
        self._lists: dict[K, list[str]] = {}
        self._added: dict[K, list[str]] = {}  # ids that are not in the lists yet

    def __getitem__(self, key: K) -> list[str]:
        if (added := self._added.pop(key, None)) is not None:
            merge(self._lists.setdefault(key, []), added, key=order)
        return self._lists.get(key, [])

    def add(self, key: K, id: str) -> None:
        self._added.setdefault(key, []).append(id)

    def remove(self, key: K, id: str) -> None:
        ids = self[key]
        del ids[bisect_left(ids, order(id), key=order)]
        if not ids:
            del self._lists[key]

    def sort(self) -> None:
        """Sort all lists, so that the next access to a list doesn't do so."""
        for key in list(self._added):
            self[key]


def _sorted_by(summary: Summary) -> tuple[object, ...]:
    return summary.unit, summary.owner, summary.pool, summary.labels


def _following(ids: list[str], after: str | None) -> list[str]:
    """Return the ids after `after`, but at most EXAMINED + 1. The extra id shows that there are more."""
    start = 0 if after is None else bisect_right(ids, order(after), key=order)
    return ids[start : start + EXAMINED + 1]


class _Spec(msgspec.Struct, frozen=True, gc=False):
    network: str | None = None


class _Failure(msgspec.Struct, frozen=True, gc=False):
    """The error from a failed start. It has no fields, because only its presence matters."""


class _SandboxRow(msgspec.Struct):
    """The fields of a sandbox's row that this module reads."""

    id: str
    unit: str
    provider: str
    wanted: Wanted
    generation: str
    spec: _Spec = _Spec()
    owner: str = "owner"
    pool: bool = False
    failure: _Failure | None = None
    labels: dict[str, str] = {}
    idle_timeout: float | None = None
    expires: Moment | None = None


def _decoded(key: str, row: Row | None, type: type[T]) -> T | None:
    """Return a decoded row, or None if it is missing or invalid. A single invalid row must not crash all gateways."""
    if row is None:
        return None
    try:
        return msgspec.json.decode(row.value, type=type)
    except msgspec.DecodeError as error:
        log.error("! the row of %s is invalid: %s", key, error)
        return None


def _summary(row: _SandboxRow) -> Summary:
    """Return a summary that shares its strings with other summaries."""
    return Summary(
        id=row.id,
        unit=row.id if row.unit == row.id else row.unit,
        owner=sys.intern(row.owner),
        provider=sys.intern(row.provider),
        wanted=row.wanted,
        generation=row.generation,
        failed=row.failure is not None,
        filtered=row.spec.network == "filtered",
        pool=row.pool,
        labels=tuple((sys.intern(name), sys.intern(value)) for name, value in sorted(row.labels.items())),
        idle_timeout=row.idle_timeout,
        expires=None if row.expires is None else _interned(row.expires),
    )


def _interned(moment: Moment) -> Moment:
    return Moment(moment.wall, sys.intern(moment.boot), moment.uptime)
