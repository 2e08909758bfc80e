"""The rows of sandboxes in the store: what a sandbox is to be, and what of it may be running.

They are separate, so that what may be running is driven to its end also when the row of the sandbox has disappeared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, Literal, TypeAlias, TypeVar

import msgspec

from hawse.api.sandboxes import Enforcement, Isolation, SandboxInfo, SandboxPort, SandboxState
from hawse.wire import HawseError
from hawse_gateway.providers.base import (
    MACHINE,
    Capabilities,
    Endpoint,
    MachineAddress,
    Progress,
    SandboxSpec,
    TcpAddress,
)
from hawse_gateway.store.base import ABSENT, Delete, Put, Row, Store
from hawse_gateway.store.clock import Moment

DEFAULT: Final = "local"  # the sandbox that exists from the beginning
SANDBOXES: Final = "sandboxes"  # the table of `SandboxRecord`, by sandbox id
RUNS: Final = "runs"  # the table of `Run`, by unit

WAITING: Final = "no machine has joined it: run `hawse join` on the machine"  # of a joined sandbox

Wanted = Literal["running", "sleeping", "stopped", "paused", "deleted"]


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The error that a start has ended with, as it was sent to the caller."""

    code: str
    message: str
    details: dict[str, float | str | None] | None = None

    @classmethod
    def of(cls, error: HawseError) -> "Failure":
        return cls(code=error.code, message=error.message, details=error.details)

    def to_exception(self) -> HawseError:
        return HawseError(self.code, self.message, details=self.details)


class SandboxRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a sandbox is to be.

    Attributes:
        id: Its id.
        unit: The provider's name for it; the id, unless it came from a pool or that name was taken.
        provider: The name of its provider.
        spec: What the provider needs to create and start it.
        wanted: The state that it is driven to.
        generation: A random name of this creation. A run of another generation belongs to a sandbox that was deleted.
        created: When it was created.
        fingerprint: A digest of the parameters that it was created with.
        reason: Why it is driven where it is, for a person.
        template: The template that it was created from.
        files: Whether its workspace gets the files of its template.
        snapshot: The backup whose content its workspace still has to get. None: there is none, or it has it.
        grants: Why it may use secrets of the gateway, by their names (`hawse_gateway.sandboxes.grants`).
        labels: What clients select it by.
        ports: Its ports that have a preview from the beginning.
        previews: While it does not run, the digests of its previews' tokens. None: unknown.
        expires: When it is deleted. None: never.
        idle_timeout: Seconds without activity after which it sleeps. None: it never sleeps.
        sleeps_after: The last `idle_timeout` that it had or was given: it applies again when `keep_alive` ends. None:
            the row was written by an earlier version.
        made: Whether the provider has created its unit.
        vacant_since: When the last runtime that accepted links before that of the present run had ended, or refused all
            calls: at the latest when the sandbox was created. None: it is not known.
        failure: Of its last start; None if that succeeded.
        owner: The id of the principal that created it.
        pool: Whether it is a member of the pool, which no client sees.
        attempts: Of its deletion that have failed.
        retry_at: When its deletion is tried again. None: now.
    """

    id: str
    unit: str
    provider: str
    spec: SandboxSpec
    wanted: Wanted
    generation: str
    created: Moment
    fingerprint: str = ""
    reason: str | None = None
    template: str | None = None
    files: bool = False
    snapshot: str | None = None
    grants: dict[str, str] = {}
    labels: dict[str, str] = {}
    ports: list[SandboxPort] = []
    previews: list[str] | None = None
    expires: Moment | None = None
    idle_timeout: float | None = None
    sleeps_after: float | None = None
    made: bool = False
    vacant_since: Moment | None = None
    failure: Failure | None = None
    owner: str = "owner"
    pool: bool = False
    attempts: int = 0
    retry_at: Moment | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One start of a unit: written before anything is started, deleted when all of it is verified to have ended.

    Attributes:
        unit: The unit.
        sandbox: The id of the sandbox that it was started for.
        generation: That of the sandbox.
        provider: The name of the provider.
        runtime: The runtime id of this start.
        state: `starting`: something may run. `running`: its runtime has accepted links. `paused`. `stopping`: it is
            being ended.
        since: When it came into this state.
        unused: Whether its runtime has never accepted links, so that no call can have run in it.
        refuses_since: Since when its runtime has refused all calls, because it goes to sleep. None: it has not.
        address: Where its runtime accepts links: a path, `HOST:PORT`, or `machine:UNIT`. None unless `running`.
        token: What the runtime expects in `hello`.
        uid: The user whose process must listen there. None: any.
        certificate: That the server at a TCP address must prove to own. None: without TLS.
        isolation: What it runs in.
        enforcement: What is enforced for its programs.
        reason: Why it is being ended.
        attempts: To end it that have failed.
        retry_at: When the next attempt is made. None: now.
    """

    unit: str
    sandbox: str
    generation: str
    provider: str
    runtime: str
    state: Literal["starting", "running", "paused", "stopping"]
    since: Moment
    unused: bool = False
    refuses_since: Moment | None = None
    address: str | None = None
    token: str | None = None
    uid: int | None = None
    certificate: str | None = None
    isolation: Isolation | None = None
    enforcement: Enforcement | None = None
    reason: str | None = None
    attempts: int = 0
    retry_at: Moment | None = None

    @property
    def endpoint(self) -> Endpoint | None:
        if self.address is None:
            return None
        if self.address.startswith("/"):
            return Endpoint(Path(self.address), self.token, self.uid)
        if self.address.startswith(MACHINE):
            return Endpoint(MachineAddress(self.address.removeprefix(MACHINE)), runtime=self.runtime)
        host, _, port = self.address.rpartition(":")
        return Endpoint(TcpAddress(host.strip("[]"), int(port)), self.token, certificate=self.certificate)

    def at(self, endpoint: Endpoint) -> "Run":
        """Return the run with the place where its runtime accepts links."""
        return msgspec.structs.replace(
            self,
            runtime=endpoint.runtime or self.runtime,
            address=str(endpoint.address),
            token=endpoint.token,
            uid=endpoint.uid,
            certificate=endpoint.certificate,
        )


R = TypeVar("R", SandboxRecord, Run)


@dataclass(frozen=True)
class Stored(Generic[R]):
    """A record as it was read, with the version that a write replaces."""

    value: R
    version: int = ABSENT

    def put(self, value: R) -> Put:
        """The change that replaces it."""
        return Put(*_place(value), msgspec.json.encode(value), self.version)

    def delete(self) -> Delete:
        return Delete(*_place(self.value), self.version)


@dataclass(frozen=True)
class Rows:
    """What is stored of one sandbox. Both are None for a sandbox that does not exist.

    Attributes:
        sandbox: What it is to be.
        run: What of it may be running.
    """

    sandbox: Stored[SandboxRecord] | None = None
    run: Stored[Run] | None = None

    @property
    def id(self) -> str:
        """The id of the sandbox, or the name of the unit if it has no row."""
        if self.sandbox is not None:
            return self.sandbox.value.id
        return "" if self.run is None else self.run.value.unit

    @property
    def visible(self) -> bool:
        """Whether clients see it: it has a row, and is not in the pool."""
        return self.sandbox is not None and not self.sandbox.value.pool

    @property
    def live(self) -> Stored[Run] | None:
        """The run, if it is one of this sandbox, and not of a deleted one."""
        if self.run is None or self.sandbox is None or self.run.value.generation != self.sandbox.value.generation:
            return None
        return self.run


def new(value: SandboxRecord | Run) -> Put:
    """The change that creates a row, which must not exist yet."""
    return Put(*_place(value), msgspec.json.encode(value), ABSENT)


async def read(store: Store, sandbox: str) -> Rows:
    """Return what is stored of a sandbox. Raises `StoreError`."""
    row = await store.get(SANDBOXES, sandbox)
    found = None if row is None else Stored(msgspec.json.decode(row.value, type=SandboxRecord), row.version)
    return Rows(found, await read_run(store, sandbox if found is None else found.value.unit))


async def read_run(store: Store, unit: str) -> Stored[Run] | None:
    row = await store.get(RUNS, unit)
    return None if row is None else Stored(msgspec.json.decode(row.value, type=Run), row.version)


class AllRows:
    """The rows of all sandboxes. A row is decoded once while it does not change: gateways read all rows often."""

    def __init__(self, store: Store) -> None:
        """Read nothing. Use one for each store, since it keeps what was read last."""
        self._store = store
        self._sandboxes: Decoded[SandboxRecord] = {}
        self._runs: Decoded[Run] = {}

    async def read(self) -> dict[str, Rows]:
        """Return what is stored of all sandboxes, by id; runs without one are at their unit. Raises `StoreError`."""
        sandboxes, units = await self._store.rows(SANDBOXES), await self._store.rows(RUNS)
        self._sandboxes = _decoded(sandboxes, self._sandboxes, SandboxRecord)
        self._runs = _decoded(units, self._runs, Run)
        runs = {unit: stored for unit, (_, stored) in self._runs.items()}
        found = {id: Rows(stored, runs.pop(stored.value.unit, None)) for id, (_, stored) in self._sandboxes.items()}
        for unit, run in runs.items():
            found.setdefault(unit, Rows(None, run))
        return found


Decoded: TypeAlias = dict[str, tuple[Row, Stored[R]]]  # by key


def _decoded(rows: Mapping[str, Row], known: Decoded[R], kind: type[R]) -> Decoded[R]:
    """Decode rows that are not known. Their bytes decide: versions begin again in a store that was emptied."""
    found: Decoded[R] = {}
    for key, row in rows.items():
        last = known.get(key)
        if last is None or last[0] != row:
            last = (row, Stored(msgspec.json.decode(row.value, type=kind), row.version))
        found[key] = last
    return found


def stopping(run: Run, now: Moment, reason: str | None) -> Run:
    """Return a run that has to be ended from now on."""
    return msgspec.structs.replace(
        run,
        state="stopping",
        since=now,
        address=None,
        token=None,
        uid=None,
        certificate=None,
        reason=reason,
        attempts=0,
        retry_at=None,
    )


def describe(rows: Rows, capabilities: Capabilities | None, progress: Progress | None = None) -> SandboxInfo:
    """Return what clients see of a sandbox, which has a row.

    Args:
        rows: What is stored of it.
        capabilities: Those of its provider. None: it is not configured.
        progress: Of its start.
    """
    assert rows.sandbox is not None
    record, run = rows.sandbox.value, None if rows.run is None else rows.run.value
    state, reason = _state(record, run, joined=capabilities is not None and capabilities.joined)
    offered = None if capabilities is None else capabilities.isolation
    enforced = None if capabilities is None else capabilities.enforced(record.spec)
    starting = progress if state == "starting" else None
    return SandboxInfo(
        id=record.id,
        state=state,
        isolation=offered if run is None else run.isolation,
        enforcement=enforced if run is None else run.enforcement,
        reason=reason,
        phase=None if starting is None else starting.phase,
        progress=None if starting is None else starting.done,
        runtime=None if run is None or run.state == "stopping" else run.runtime,
        provider=record.provider,
        owner=record.owner,
        template=record.template,
        image=record.spec.image,
        network=record.spec.network,
        egress=record.spec.egress,
        labels=record.labels,
        created=record.created.wall,
        expires=None if record.expires is None else record.expires.wall,
        idle_timeout=record.idle_timeout,
    )


def _state(record: SandboxRecord, run: Run | None, *, joined: bool) -> tuple[SandboxState, str | None]:
    if record.wanted == "deleted":
        return "deleting", run.reason if run is not None and run.attempts else record.reason
    if run is not None:
        return run.state, run.reason if run.state == "stopping" else record.reason
    if record.wanted == "running":
        return "starting", record.reason
    if record.wanted in ("stopped", "paused"):
        return "stopped", record.reason
    if joined:  # that no machine was connected when a call came is no failure
        return "sleeping", record.reason or WAITING
    if record.failure is not None:
        return "failed", record.failure.message
    return "sleeping", record.reason


def _place(value: SandboxRecord | Run) -> tuple[str, str]:
    return (SANDBOXES, value.id) if isinstance(value, SandboxRecord) else (RUNS, value.unit)


def has_labels(info: SandboxInfo, labels: Mapping[str, str]) -> bool:
    """Whether a sandbox has all of the labels."""
    return all(info.labels.get(name) == value for name, value in labels.items())


def order(id: str) -> tuple[bool, str]:
    """Return what sandboxes are sorted by: the default one is first."""
    return id != DEFAULT, id
