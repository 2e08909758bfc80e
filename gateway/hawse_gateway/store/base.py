"""The interface of the store. SQLite implements it for one gateway, Redis for several (docs/decisions/0076).

Rows are bytes by table and key. Each write gives its rows a new version that no other write to the store ever gets. A
write names the version it replaces, so a writer never overwrites a row it has not read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from hawse.wire import HawseError

ABSENT: Final = 0  # the version of a row that does not exist

ANY_TABLE: Final = ""  # passed to listeners when rows of any table may have changed without a call

Listener = Callable[[str, str], None]  # receives the table and the key of a row


class StoreError(Exception):
    """The store cannot be read or written now: its disk is full, or its server does not respond."""


class ConflictError(StoreError):
    """A row's version differs from the one a write replaces. Nothing was written."""


class LeaseLostError(StoreError):
    """The lease of a write has expired or belongs to another holder. Nothing was written."""


@contextmanager
def store_errors_unavailable() -> Iterator[None]:
    """Convert `StoreError` to `HawseError` `unavailable`, an error of the call. `ConflictError` is not converted."""
    try:
        yield
    except ConflictError:
        raise
    except StoreError as error:
        raise HawseError("unavailable", str(error)) from error


class Listeners:
    """The functions that a store calls after changes. A base class of stores."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each change. Returns a function that ends the calls."""
        self._listeners.append(listener)

        def stop() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    def notify(self, table: str, key: str) -> None:
        """Call all listeners."""
        for listener in list(self._listeners):
            listener(table, key)


class Row(NamedTuple):
    """A stored row."""

    value: bytes
    version: int


@dataclass(frozen=True)
class Put:
    """Write a row.

    Attributes:
        table: The table.
        key: The key of the row.
        value: Its new value.
        version: The version it replaces. `ABSENT` for a row that must not exist yet.
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
    """The exclusive right to work on an object, until it expires.

    Attributes:
        name: The name of the object.
        holder: The gateway that holds it.
        epoch: Greater than the epoch of every earlier lease of this name.
    """

    name: str
    holder: str
    epoch: int


class BucketSpending(NamedTuple):
    """The amount one gateway has taken from a token bucket that all gateways share.

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
    """The state of the other gateways that matters for limits.

    Attributes:
        held: The reported holdings of each other gateway.
        known: For each credential asked about, whether it is known.
        levels: The amount in each reported bucket; below zero for a debt.
    """

    held: list[bytes]
    known: list[bool]
    levels: list[float]


class LimitStore(Protocol):
    """Where gateways that share a store report their counts for limits."""

    async def share(
        self, gateway: str, held: bytes, known: Sequence[str], asked: Sequence[str], spent: Sequence[BucketSpending]
    ) -> LimitAnswer:
        """Report, and return the others' reports.

        Args:
            gateway: The name of this gateway.
            held: Its current holdings, in any form. Empty for none. They count for 6 s.
            known: Credentials that addresses have used here, in any form. They stay known for a day.
            asked: Credentials to look up among those known to other gateways.
            spent: The amounts taken from buckets.

        Raises:
            StoreError: The store is unavailable. It may or may not have the report.
        """
        ...


class Store(Protocol):
    """Every method raises `StoreError` if the store is unavailable.

    Attributes:
        limits: Where gateways share their counts for limits. None if there is only one gateway.
    """

    @property
    def limits(self) -> LimitStore | None: ...

    async def get(self, table: str, key: str) -> Row | None:
        """Return a row, or None if it does not exist."""
        ...

    async def rows(self, table: str) -> Mapping[str, Row]:
        """Return all rows of a table, by key."""
        ...

    async def write(self, *changes: Change, lease: Lease | None = None) -> int:
        """Apply all changes or none. They are durable once this returns.

        Args:
            changes: Changes to different rows.
            lease: A lease that must still be held.

        Returns:
            The new version of the written rows.

        Raises:
            ConflictError: A row's version differs from the one a change replaces.
            LeaseLostError: The lease is no longer held.
            StoreError: The changes may or may not have been written.
        """
        ...

    async def time(self) -> float | None:
        """Return seconds since 1970 by a clock that all gateways share. None if there is only one gateway."""
        ...

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Acquire a lease for `seconds`. Returns None while another lease of this name has not expired."""
        ...

    async def renew(self, lease: Lease, seconds: float) -> bool:
        """Extend the lease to `seconds` from now. Returns False if it is no longer held."""
        ...

    async def release(self, lease: Lease) -> None:
        """Release the lease. Does nothing if it is no longer held."""
        ...

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` in the event loop after each change of a row, and with table `leases` when a lease is
        released.

        Changes that are close together may be reported once, and expiry is not reported: listeners must read the state
        instead of relying on one call per change. Table `ANY_TABLE` means that rows of any table may have changed
        without a call, because the store was disconnected.

        Returns:
            A function that ends the calls.
        """
        ...

    async def run(self) -> None:
        """Pass on changes of other gateways until cancelled, if there can be other gateways."""
        ...

    async def close(self) -> None: ...
