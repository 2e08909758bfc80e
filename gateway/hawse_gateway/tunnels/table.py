"""The tunnels of all sandboxes, stored as rows and mirrored in memory so that visitors don't have to wait for the
store.

A tunnel is only valid while its sandbox exists. A later sandbox with the same id has a different generation, so it
doesn't inherit the earlier sandbox's tunnels.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import msgspec

from hawse.api.tunnels import TunnelKind, TunnelProvider
from hawse_gateway.sandboxes.records import SANDBOXES
from hawse_gateway.store.base import (
    ABSENT,
    ConflictError,
    Delete,
    Put,
    Row,
    Store,
    StoreError,
    store_errors_unavailable,
)
from hawse_gateway.store.clock import Clock, Moment
from hawse_gateway.store.table_follower import TableFollower

log = logging.getLogger(__name__)

TABLE: Final = "tunnels"
MARK: Final = "t-"  # prefix of the host name's first label; for previews, this label starts with a port
TCP: Final = "tcp-"  # prefix for the names of `tcp` tunnels, followed by the port
LONGEST: Final = 300.0  # seconds between clock checks, because timers stop while the machine is suspended
RETRY: Final = 10.0  # seconds to wait before retrying to remove rows after a store error


class TunnelRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tunnel's row. Its key is the tunnel's name.

    Attributes:
        name: The tunnel's name.
        sandbox: The sandbox's id.
        generation: The sandbox's generation.
        port: The port in the sandbox.
        kind: The kind of traffic that it carries.
        created: When it was created.
        expires: When it expires. None means that it lasts until the sandbox is deleted.
        owner: The id of the user who created it.
        provider: The name of the provider that assigned its address.
        remote_port: The port on the SSH server, either assigned or requested. None means any port.
    """

    name: str
    sandbox: str
    generation: str
    port: int
    created: Moment
    kind: TunnelKind = "http"
    expires: Moment | None = None
    owner: str | None = None
    provider: TunnelProvider = "gateway"
    remote_port: int | None = None

    @property
    def public_port(self) -> int | None:
        """The gateway's port for the tunnel. The port is unique because it is part of the name."""
        return int(self.name.removeprefix(TCP)) if self.kind == "tcp" and self.provider == "gateway" else None

    def leads_where(self, other: "TunnelRecord") -> bool:
        """Return whether both rows describe the same tunnel, ignoring the expiry and the remote port."""
        return msgspec.structs.replace(self, expires=other.expires, remote_port=other.remote_port) == other


class _Sandbox(msgspec.Struct):
    """The fields of a sandbox's row that this module reads."""

    generation: str = ""
    pool: bool = False
    wanted: str = ""


class TunnelTable:
    """All tunnels. Use it inside `async with table.running():`."""

    def __init__(self, store: Store, clock: Clock | None = None) -> None:
        """Create an empty table.

        Args:
            store: The store that contains the rows.
            clock: The clock that determines when tunnels expire. Defaults to this machine's clock.
        """
        self._store = store
        self.clock = clock or Clock()
        self._rows: dict[str, tuple[TunnelRecord, int]] = {}  # rows and their versions, keyed by name
        self._generations: dict[str, str] = {}  # generations, keyed by sandbox id
        self._open: dict[str, dict[Callable[[], None], None]] = {}  # functions that end connections, keyed by tunnel
        self._follower = TableFollower(store, TABLE, self._put, lambda: list(self._rows))
        self._sandboxes = TableFollower(store, SANDBOXES, self._put_sandbox, lambda: list(self._generations))
        self._wake = asyncio.Event()
        self._listeners: dict[Callable[[], None], None] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator["TunnelTable"]:
        """Load the rows, follow their changes, and remove expired tunnels. Raises `StoreError`."""
        async with self._sandboxes.running(), self._follower.running(), asyncio.TaskGroup() as tasks:
            sweeping = tasks.create_task(self._sweep(), name="tunnels")
            yield self
            sweeping.cancel()

    # ---- lookup

    def find(self, name: str) -> TunnelRecord | None:
        """Return the valid tunnel with this name, or None."""
        found = self._rows.get(name)
        return found[0] if found is not None and self._alive(found[0]) else None

    def of(self, sandbox: str) -> list[TunnelRecord]:
        """Return a sandbox's tunnels, sorted by name."""
        found = [record for record, _ in self._rows.values() if record.sandbox == sandbox and self._alive(record)]
        return sorted(found, key=lambda record: record.name)

    def tcp(self) -> list[TunnelRecord]:
        """Return the tunnels that have a port on the gateway."""
        return [record for record, _ in self._rows.values() if record.public_port is not None and self._alive(record)]

    def of_others(self) -> list[TunnelRecord]:
        """Return the tunnels with addresses from other providers."""
        return [record for record, _ in self._rows.values() if record.provider != "gateway" and self._alive(record)]

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` when tunnels are created or end. Return a function that removes the listener."""
        self._listeners[listener] = None
        return lambda: self._listeners.pop(listener, None)

    def count(self, owner: str | None = None) -> int:
        """Return a user's number of tunnels, or the total for all users."""
        alive = [record for record, _ in self._rows.values() if self._alive(record)]
        return sum(owner is None or record.owner == owner for record in alive)

    def connections(self, name: str) -> int:
        """Return the number of connections open to a tunnel."""
        return len(self._open.get(name, {}))

    async def generation(self, sandbox: str) -> str | None:
        """Return a sandbox's generation, or None if the sandbox does not exist. Raises `HawseError` (`unavailable`)."""
        with store_errors_unavailable():
            await self._sandboxes.read(sandbox)
        return self._generations.get(sandbox)

    @contextmanager
    def hold(self, name: str, end: Callable[[], None]) -> Iterator[None]:
        """Register a connection to a tunnel while inside the `with` block.

        Args:
            name: The tunnel's name.
            end: Called at most once, when the tunnel ends.
        """
        self._open.setdefault(name, {})[end] = None
        try:
            yield
        finally:
            held = self._open.get(name, {})
            held.pop(end, None)
            if not held:
                self._open.pop(name, None)

    # ---- changes

    async def put(self, record: TunnelRecord) -> None:
        """Store a tunnel. The row replaces an expired tunnel with the same name, or an earlier row for the same tunnel.

        Raises:
            ConflictError: Another valid tunnel already has this name.
            HawseError: `unavailable` if the store is unavailable.
        """
        with store_errors_unavailable():
            await self._follower.read(record.name)
            known = self._rows.get(record.name)
            if known is not None:
                await self._sandboxes.read(known[0].sandbox)  # another gateway may have just created the sandbox
                known = self._rows.get(record.name)
            if known is not None and self._alive(known[0]) and not known[0].leads_where(record):
                raise ConflictError(record.name)
            version = ABSENT if known is None else known[1]
            await self._store.write(Put(TABLE, record.name, msgspec.json.encode(record), version))
            await self._follower.read(record.name)

    async def remove(self, record: TunnelRecord) -> None:
        """Remove a tunnel and end its connections. Has no effect if the tunnel no longer exists."""
        with store_errors_unavailable():
            while True:
                await self._follower.read(record.name)
                known = self._rows.get(record.name)
                if known is None or not known[0].leads_where(record):
                    return
                try:
                    await self._store.write(Delete(TABLE, record.name, known[1]))
                except ConflictError:
                    continue  # the row has changed in the meantime, so retry

    # ---- inside

    def _alive(self, record: TunnelRecord) -> bool:
        if self._generations.get(record.sandbox) != record.generation:
            return False
        return record.expires is None or self.clock.until(record.expires) > 0

    def _put(self, name: str, row: Row | None) -> None:
        before = self._rows.pop(name, None)
        record = None if row is None else _decoded(name, row)
        if row is not None and record is not None:
            self._rows[name] = (record, row.version)
        if before is not None and (record is None or not before[0].leads_where(record)):
            self._end(name)
        self._notify()

    def _notify(self) -> None:
        self._wake.set()
        for listener in list(self._listeners):
            listener()

    def _put_sandbox(self, id: str, row: Row | None) -> None:
        found = None if row is None else msgspec.json.decode(row.value, type=_Sandbox)
        if found is None or found.pool or found.wanted == "deleted":
            before = self._generations.pop(id, None)
        else:
            before = self._generations.get(id)
            self._generations[id] = found.generation
        if before != self._generations.get(id):
            self._notify()

    def _end(self, name: str) -> None:
        for end in self._open.pop(name, {}):
            end()

    async def _sweep(self) -> None:
        """Remove the rows for tunnels that are no longer valid."""
        while True:
            self._wake.clear()
            ended = [record for record, _ in self._rows.values() if not self._alive(record)]
            wait = LONGEST
            for record in ended:
                self._end(record.name)
                try:
                    await self._discard(record)
                except StoreError as error:
                    log.warning("! cannot remove the row of tunnel %s yet: %s", record.name, error)
                    wait = RETRY
            times = [self.clock.until(record.expires) for record, _ in self._rows.values() if record.expires]
            wait = min([wait, *(max(time, 0.0) for time in times if time > 0)])
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def _discard(self, record: TunnelRecord) -> None:
        """Remove the row for a tunnel that is no longer valid, unless the row has changed."""
        await self._sandboxes.read(record.sandbox)  # another gateway may have just created the sandbox
        known = self._rows.get(record.name)
        if known is None or known[0] != record or self._alive(record):
            return
        try:
            await self._store.write(Delete(TABLE, record.name, known[1]))
        except ConflictError:
            pass
        await self._follower.read(record.name)
        log.info("= tunnel %s has ended", record.name, extra={"sandbox": record.sandbox})


def _decoded(name: str, row: Row) -> TunnelRecord | None:
    try:
        return msgspec.json.decode(row.value, type=TunnelRecord)
    except msgspec.MsgspecError as error:
        log.warning("! cannot decode the row of tunnel %s: %s", name, error)
        return None
