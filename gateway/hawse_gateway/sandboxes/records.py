"""The sandboxes' rows in the store: each sandbox's desired state, and its run.

The two are separate rows, so that a run can be ended even if the sandbox's row is missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, Literal, TypeVar

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
from hawse_gateway.store.base import ABSENT, Delete, Put, Store
from hawse_gateway.store.clock import Moment

DEFAULT: Final = "local"  # the default sandbox's id
SANDBOXES: Final = "sandboxes"  # table of `SandboxRecord`, keyed by sandbox id
RUNS: Final = "runs"  # table of `Run`, keyed by unit

WAITING: Final = "no machine has joined it: run `hawse join` on the machine"  # shown while a sandbox has no machine

Wanted = Literal["running", "sleeping", "stopped", "paused", "deleted"]
RunState = Literal["starting", "running", "paused", "stopping"]


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The error from a failed start, in its stored form."""

    code: str
    message: str
    details: dict[str, float | str | None] | None = None

    @classmethod
    def of(cls, error: HawseError) -> "Failure":
        return cls(code=error.code, message=error.message, details=error.details)

    def to_exception(self) -> HawseError:
        return HawseError(self.code, self.message, details=self.details)


class SandboxRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sandbox's desired state and settings.

    Attributes:
        id: The sandbox's id.
        unit: The unit's name. It equals the sandbox's id unless the sandbox comes from a pool or another unit has this
            name.
        provider: The provider's name.
        spec: The specification for the provider.
        wanted: The desired state.
        generation: A random name for this creation. If a run has a different generation, it belongs to a deleted
            sandbox with the same id.
        created: When the sandbox was created.
        fingerprint: A digest of the parameters it was created with.
        reason: A human-readable reason for the desired state.
        template: The name of its template, if any.
        files: Whether the template's files still need to be written to the workspace.
        snapshot: The id of a backup that has yet to be restored to its workspace, or None.
        grants: For each secret, keyed by name, the reason why it may be used (`hawse_gateway.sandboxes.secret_grants`).
        labels: The labels that clients can use to select it.
        ports: The ports that get previews when it starts.
        previews: The digests of its preview tokens, which are stored while it is not running. None if unknown.
        expires: When it is deleted. None means never.
        idle_timeout: Seconds without activity before it sleeps. None means that it never sleeps.
        sleeps_after: The most recent `idle_timeout`, which is restored when `keep_alive` ends. None in rows written by
            an earlier version.
        made: Whether the provider has already created its unit.
        vacant_since: When the last runtime that accepted links ended or started refusing all calls. If there was no
            such runtime, the time when the sandbox was created. None if unknown.
        failure: The error that made the last start fail. None if the last start succeeded.
        owner: The id of the principal that created the sandbox.
        pool: Whether it is a pool member, and thus hidden from clients.
        attempts: The number of failed attempts to delete it.
        retry_at: When to retry deleting it. None means immediately.
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
    """One start of a unit. The row is written before the start, and deleted once all processes are confirmed to have
    ended.

    Attributes:
        unit: The unit.
        sandbox: The sandbox's id.
        generation: The sandbox's generation.
        provider: The provider's name.
        runtime: The runtime id for this start.
        state: `starting` (processes may exist), `running` (the runtime has accepted links), `paused`, or `stopping`
            (the run is being ended).
        since: When the run entered this state.
        unused: Whether its runtime has never accepted links and therefore can't have run any calls.
        refuses_since: When its runtime started refusing all calls so that the sandbox can sleep. None while it accepts
            calls.
        address: Its runtime's address: a path, `HOST:PORT`, or `machine:UNIT`. None unless `running`.
        token: The token that the runtime expects in `hello`.
        uid: The user whose process must be listening at the address. None means any user.
        certificate: The certificate that the server at a TCP address must present. None disables TLS.
        isolation: How the run is isolated.
        enforcement: Which limits are enforced.
        reason: The reason why the run is being ended.
        attempts: The number of failed attempts to end the run.
        retry_at: When the next attempt is due. None means immediately.
    """

    unit: str
    sandbox: str
    generation: str
    provider: str
    runtime: str
    state: RunState
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
        """Return the run with its runtime's endpoint."""
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
    """A record from the store, along with its version, which is required for the next write."""

    value: R
    version: int = ABSENT

    def put(self, value: R) -> Put:
        """Return the change that replaces the record."""
        return Put(*_place(value), msgspec.json.encode(value), self.version)

    def delete(self) -> Delete:
        return Delete(*_place(self.value), self.version)


@dataclass(frozen=True)
class Rows:
    """A sandbox's rows. Both are None if the sandbox does not exist.

    Attributes:
        sandbox: The desired state and the settings.
        run: The current run. None if there is no run.
    """

    sandbox: Stored[SandboxRecord] | None = None
    run: Stored[Run] | None = None

    @property
    def id(self) -> str:
        """The sandbox's id, or the unit's name if the sandbox has no row."""
        if self.sandbox is not None:
            return self.sandbox.value.id
        return "" if self.run is None else self.run.value.unit

    @property
    def visible(self) -> bool:
        """Whether clients can see the sandbox: it has a row and is not a pool member."""
        return self.sandbox is not None and not self.sandbox.value.pool

    @property
    def live(self) -> Stored[Run] | None:
        """The run, unless it belongs to a deleted sandbox with the same id."""
        if self.run is None or self.sandbox is None or self.run.value.generation != self.sandbox.value.generation:
            return None
        return self.run


def new(value: SandboxRecord | Run) -> Put:
    """Return the change that creates a row. The row must not exist yet."""
    return Put(*_place(value), msgspec.json.encode(value), ABSENT)


async def read(store: Store, sandbox: str) -> Rows:
    """Return a sandbox's rows. Raises `StoreError`."""
    row = await store.get(SANDBOXES, sandbox)
    found = None if row is None else Stored(msgspec.json.decode(row.value, type=SandboxRecord), row.version)
    return Rows(found, await read_run(store, sandbox if found is None else found.value.unit))


async def read_many(store: Store, sandboxes: Sequence[str]) -> dict[str, Rows]:
    """Return the rows for sandboxes, keyed by id. The sandboxes don't have to exist. Raises `StoreError`."""
    rows = await store.get_many(SANDBOXES, sandboxes)
    found = {id: Stored(msgspec.json.decode(row.value, type=SandboxRecord), row.version) for id, row in rows.items()}
    units = {id: found[id].value.unit if id in found else id for id in sandboxes}
    runs = await store.get_many(RUNS, list(units.values()))
    decoded = {unit: Stored(msgspec.json.decode(row.value, type=Run), row.version) for unit, row in runs.items()}
    return {id: Rows(found.get(id), decoded.get(unit)) for id, unit in units.items()}


async def read_run(store: Store, unit: str) -> Stored[Run] | None:
    row = await store.get(RUNS, unit)
    return None if row is None else Stored(msgspec.json.decode(row.value, type=Run), row.version)


def stopping(run: Run, now: Moment, reason: str | None) -> Run:
    """Return the run with its state changed to `stopping`."""
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
    """Return a sandbox's public description. The sandbox must have a row.

    Args:
        rows: The sandbox's rows.
        capabilities: Its provider's capabilities. None if the provider is not configured.
        progress: The progress of its current start, or None.
    """
    assert rows.sandbox is not None
    record, run = rows.sandbox.value, None if rows.run is None else rows.run.value
    joined = capabilities is not None and capabilities.joined
    failed = record.failure is not None
    state = shown_state(record.wanted, None if run is None else run.state, failed=failed, joined=joined)
    offered = None if capabilities is None else capabilities.isolation
    enforced = None if capabilities is None else capabilities.enforced(record.spec)
    starting = progress if state == "starting" else None
    return SandboxInfo(
        id=record.id,
        state=state,
        isolation=offered if run is None else run.isolation,
        enforcement=enforced if run is None else run.enforcement,
        reason=_reason(state, record, run, joined=joined),
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


def shown_state(wanted: Wanted, run: RunState | None, *, failed: bool, joined: bool) -> SandboxState:
    """Return the state that clients see.

    Args:
        wanted: The desired state.
        run: The state of the run. None if there is no run.
        failed: Whether the last start failed.
        joined: Whether the sandbox is a joined machine. Such a sandbox is never shown as `failed`.
    """
    if wanted == "deleted":
        return "deleting"
    if run is not None:
        return run
    if wanted == "running":
        return "starting"
    if wanted in ("stopped", "paused"):
        return "stopped"
    return "failed" if failed and not joined else "sleeping"


def _reason(state: SandboxState, record: SandboxRecord, run: Run | None, *, joined: bool) -> str | None:
    if run is not None and (state == "stopping" or (state == "deleting" and run.attempts)):
        return run.reason
    if state == "failed" and run is None and record.failure is not None:
        return record.failure.message
    if state == "sleeping" and run is None and joined:
        return record.reason or WAITING
    return record.reason


def _place(value: SandboxRecord | Run) -> tuple[str, str]:
    return (SANDBOXES, value.id) if isinstance(value, SandboxRecord) else (RUNS, value.unit)


def has_labels(info: SandboxInfo | SandboxRecord, labels: Mapping[str, str]) -> bool:
    """Return whether a sandbox has all of the given labels."""
    return all(info.labels.get(name) == value for name, value in labels.items())


def order(id: str) -> tuple[bool, str]:
    """Return the sort key for a sandbox's id. The default sandbox comes first."""
    return id != DEFAULT, id
