"""The interface of the store. SQLite implements it for one gateway, Redis for several (docs/decisions/0076).

Rows are bytes by table and key. Each write gives its rows a new version, which no other write of the store ever gets.
A write names the version that it replaces, so a writer never overwrites what it has not read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from hawse.wire import HawseError

ABSENT: Final = 0  # the version of a row that does not exist

ANY_TABLE: Final = ""  # the table that listeners get when rows of any table may have changed without a call

Listener = Callable[[str, str], None]  # gets the table and the key of a row


class StoreError(Exception):
    """The store cannot be read or written now: its disk is full, or its server does not answer."""


class ConflictError(StoreError):
    """A row has another version than the one that a write replaces. Nothing was written."""


class LeaseLostError(StoreError):
    """The lease of a write has expired or has another holder. Nothing was written."""


@contextmanager
def store_errors_unavailable() -> Iterator[None]:
    """Raise a `StoreError` as `HawseError` `unavailable`, an error of the call. A `ConflictError` stays what it is."""
    try:
        yield
    except ConflictError:
        raise
    except StoreError as error:
        raise HawseError("unavailable", str(error)) from error


class Listeners:
    """The functions that a store calls after its changes. A base of stores."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each change. Returns what ends the calls."""
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
        version: The version that it replaces; `ABSENT` for a row that must not exist yet.
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
    """The exclusive right to work on something, until it expires.

    Attributes:
        name: What it is for.
        holder: The gateway that holds it.
        epoch: Greater than the epoch of every earlier lease of that name.
    """

    name: str
    holder: str
    epoch: int


class BucketSpending(NamedTuple):
    """What one gateway has taken from a token bucket that all gateways share.

    Attributes:
        key: The name of the bucket.
        rate: How much comes into it in a second.
        burst: How much is in it when it is full.
        amount: What was taken since the last report.
    """

    key: str
    rate: float
    burst: float
    amount: float


class LimitAnswer(NamedTuple):
    """What a gateway learns of the other gateways for its limits.

    Attributes:
        held: What each of the others holds, as it has reported it.
        known: Whether each of the credentials that was asked for is known.
        levels: How much is in each bucket that was reported; below zero for a debt.
    """

    held: list[bytes]
    known: list[bool]
    levels: list[float]


class LimitStore(Protocol):
    """Where gateways with one store report what they count for limits."""

    async def share(
        self, gateway: str, held: bytes, known: Sequence[str], asked: Sequence[str], spent: Sequence[BucketSpending]
    ) -> LimitAnswer:
        """Report, and return what the others have reported.

        Args:
            gateway: The name of this gateway.
            held: What it holds now, in any form; empty for nothing. It counts for 6 s.
            known: Credentials that addresses have used here, in any form. They stay known for a day.
            asked: Credentials of which it wants to know whether another gateway knows them.
            spent: What it has taken from buckets.

        Raises:
            StoreError: The store cannot be used now. It is not known whether it has the report.
        """
        ...


class Store(Protocol):
    """Every method raises `StoreError` if the store cannot be used now.

    Attributes:
        limits: Where gateways share what they count for limits. None: there is one gateway.
    """

    @property
    def limits(self) -> LimitStore | None: ...

    async def get(self, table: str, key: str) -> Row | None:
        """Return a row; None if it does not exist."""
        ...

    async def rows(self, table: str) -> Mapping[str, Row]:
        """Return all rows of a table, by key."""
        ...

    async def write(self, *changes: Change, lease: Lease | None = None) -> int:
        """Apply all changes or none. They are durable when this returns.

        Args:
            changes: Changes of different rows.
            lease: A lease that must still be held.

        Returns:
            The version that the written rows have now.

        Raises:
            ConflictError: A row does not have the version that a change replaces.
            LeaseLostError: The lease is no longer held.
            StoreError: It is not known whether the changes were written.
        """
        ...

    async def time(self) -> float | None:
        """Return the seconds since 1970 by a clock that all gateways share. None: there is one gateway."""
        ...

    async def acquire(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take a lease for `seconds`. Returns None while another lease of that name has not expired."""
        ...

    async def renew(self, lease: Lease, seconds: float) -> bool:
        """Let the lease expire in `seconds` from now. Returns False if it is no longer held."""
        ...

    async def release(self, lease: Lease) -> None:
        """End the lease. One that is no longer held is not an error."""
        ...

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` in the event loop after each change of a row, and with table `leases` when a lease ends.

        Changes that are close together may be reported once, and expiry is not reported: listeners read the state, and
        do not rely on a call for each change. Table `ANY_TABLE` means that rows of any table may have changed without a
        call, because the store was not connected.

        Returns:
            What ends the calls.
        """
        ...

    async def run(self) -> None:
        """Pass on the changes of other gateways until it is cancelled, if there can be any."""
        ...

    async def close(self) -> None: ...
