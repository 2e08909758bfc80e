"""The interface for stores, with one implementation for a single gateway (SQLite) and one for several (Redis).

A row is a byte string, identified by a table and a key. Each write gives its rows a new version that is unique in the
store. A write also specifies the version to replace, so that a writer never overwrites a change that it has not read
(docs/decisions/0076).
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from hawse.wire import HawseError

ABSENT: Final = 0  # the version of a row that does not exist

PAGE: Final = 100  # number of rows to read and process before letting other tasks run

ANY_TABLE: Final = ""  # table name passed to listeners if they may have missed changes to any table

Listener = Callable[[str, str], None]  # called with a row's table and key


class StoreError(Exception):
    """The store is unavailable: its disk is full, or its server does not respond."""


class ConflictError(StoreError):
    """A row no longer has the version that a write was meant to replace. Nothing was written."""


class LeaseLostError(StoreError):
    """The lease required for a write has expired or is held by another gateway. Nothing was written."""


@contextmanager
def store_errors_unavailable() -> Iterator[None]:
    """Convert `StoreError`, but not `ConflictError`, to `HawseError` (`unavailable`)."""
    try:
        yield
    except ConflictError:
        raise
    except StoreError as error:
        raise HawseError("unavailable", str(error)) from error


class Row(NamedTuple):
    """A stored row."""

    value: bytes
    version: int


class StoreBase(ABC):
    """A base class for stores that manages change listeners and collects the pages of a table."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    @abstractmethod
    def pages(self, table: str) -> AsyncIterator[Mapping[str, Row]]:
        """Yield all rows in a table. See `Store.pages`."""

    async def rows(self, table: str) -> Mapping[str, Row]:
        """Return all rows in a small table, keyed by row key, in the order of the keys."""
        found: dict[str, Row] = {}
        async for page in self.pages(table):
            found |= page
        return dict(sorted(found.items()))

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each change. Return a function that removes the listener."""
        self._listeners.append(listener)

        def stop() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    def notify(self, table: str, key: str) -> None:
        """Call all listeners."""
        for listener in list(self._listeners):
            listener(table, key)


@dataclass(frozen=True)
class Put:
    """Write a row.

    Attributes:
        table: The table.
        key: The row's key.
        value: The row's new value.
        version: The version to replace. `ABSENT` for a row that must not exist yet.
    """

    table: str
    key: str
    value: bytes
    version: int = ABSENT


@dataclass(frozen=True)
class Delete:
    """Delete a row that has the given version."""

    table: str
    key: str
    version: int


Change = Put | Delete


@dataclass(frozen=True)
class Lease:
    """The exclusive right to modify an object, until the lease expires.

    Attributes:
        name: The name of the object.
        holder: The gateway that holds it.
        epoch: A number greater than the epoch of every earlier lease with this name.
    """

    name: str
    holder: str
    epoch: int


class BucketSpending(NamedTuple):
    """The amount that a gateway has taken from a token bucket shared by all gateways.

    Attributes:
        key: The name of the bucket.
        rate: The amount added per second.
        burst: The amount in a full bucket.
        amount: The amount taken since the last report.
    """

    key: str
    rate: float
    burst: float
    amount: float


class LimitAnswer(NamedTuple):
    """The parts of other gateways' state that are relevant to limits.

    Attributes:
        held: The counts reported by each other gateway.
        known: For each credential looked up, whether any gateway has reported it.
        levels: The levels of the buckets in the report. A level is negative if the bucket is overdrawn.
    """

    held: list[bytes]
    known: list[bool]
    levels: list[float]


class LimitStore(Protocol):
    """Exchanges the counts used for limits between gateways that share a store."""

    async def share(
        self, gateway: str, held: bytes, known: Sequence[str], asked: Sequence[str], spent: Sequence[BucketSpending]
    ) -> LimitAnswer:
        """Send a report, and return the other gateways' reports.

        Args:
            gateway: This gateway's name.
            held: This gateway's current counts, in any format. Empty if there are none. The counts expire after 6
                seconds.
            known: Credentials that addresses have used on this gateway, in any format. They are remembered for a day.
            asked: Credentials to look up at other gateways.
            spent: The amounts taken from buckets.

        Raises:
            StoreError: The store is unavailable. It may have received the report anyway.
        """
        ...


class Store(Protocol):
    """A store for one or more gateways. All methods raise `StoreError` if the store is unavailable.

    Attributes:
        limits: Exchanges the counts used for limits. None if only one gateway can use the store.
    """

    @property
    def limits(self) -> LimitStore | None: ...

    async def get(self, table: str, key: str) -> Row | None:
        """Return a row, or None if it does not exist."""
        ...

    async def get_many(self, table: str, keys: Sequence[str]) -> Mapping[str, Row]:
        """Return the rows that exist, keyed by row key."""
        ...

    def pages(self, table: str) -> AsyncIterator[Mapping[str, Row]]:
        """Yield all rows in a table, about `PAGE` at a time, keyed by row key.

        Rows that are written or deleted during the iteration may be missing, outdated or repeated.
        """
        ...

    async def rows(self, table: str) -> Mapping[str, Row]:
        """Return all rows in a small table, keyed by row key, in the order of the keys. See `pages`."""
        ...

    async def count(self, table: str) -> int:
        """Return the number of rows in a table."""
        ...

    async def synced(self) -> None:
        """Return once listeners have been called for all changes that any gateway has written before this call."""
        ...

    async def write(self, *changes: Change, lease: Lease | None = None) -> int:
        """Apply all changes or none of them. The changes are durable once this method returns.

        Args:
            changes: The changes, each to a different row.
            lease: A lease that must still be held for the changes to be applied.

        Returns:
            The new version of the rows written.

        Raises:
            ConflictError: A row no longer has the version that a change was meant to replace.
            LeaseLostError: The lease is no longer held.
            StoreError: The store is unavailable. The changes may have been written anyway.
        """
        ...

    async def time(self) -> float | None:
        """Return seconds since 1970 from a clock shared by all gateways. None if only one gateway can use the store."""
        ...

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Acquire a lease for `seconds`. Return None while another lease with this name is valid."""
        ...

    async def renew(self, lease: Lease, seconds: float) -> bool:
        """Extend the lease to `seconds` from now. Return False if the lease is no longer held."""
        ...

    async def release(self, lease: Lease) -> None:
        """Release the lease. Has no effect if the lease is no longer held."""
        ...

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` in the event loop whenever a row changes, and with the table `leases` when a lease is
        released.

        Several changes within a short time can be reported in one call, and the expiry of leases is not reported.
        Listeners must therefore read the current state. The table `ANY_TABLE` means that changes to any table may have
        been missed while the store was disconnected.

        Returns:
            A function that removes the listener.
        """
        ...

    async def run(self) -> None:
        """Report other gateways' changes to listeners until cancelled."""
        ...

    async def close(self) -> None: ...
