"""A registry of items with an id and an instance. Items that have ended are kept for a while.

Items implement `Registrable`. docs/decisions/0055 lists the tables that are not registries, and explains why.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

import msgspec

from hawse.wire import HawseError

log = logging.getLogger(__name__)


class Registrable(Protocol):
    """An item. `id` is chosen by the caller or generated; `instance` changes each time an item with that id is
    started.
    """

    id: str
    instance: str


class Retention(msgspec.Struct, frozen=True):
    """How long to keep items that have ended: until `count` more have ended, and for at most `age` seconds."""

    count: int = 256
    age: float | None = None  # None means no limit


T = TypeVar("T", bound=Registrable)


class Registry(Generic[T]):
    """A set of items in insertion order, with at most one per id, whether running or ended.

    Adding, ending and dropping an item takes constant time.
    """

    def __init__(
        self,
        kind: str,
        *,
        limit: int | None = None,
        retention: Retention = Retention(),
        on_drop: Callable[[T], object] | None = None,
    ) -> None:
        """Create an empty registry. A running event loop is needed only if `retention.age` is set.

        Args:
            kind: The word for an item in error messages, for example "terminal".
            limit: The maximum number of running items and reserved ids; None means no limit.
            retention: How long to keep items that have ended.
            on_drop: Called with each item that can no longer be found.
        """
        self.retention = retention
        self._kind = kind
        self.limit = limit
        self._on_drop = on_drop
        self._items: OrderedDict[str, T] = OrderedDict()
        self._ended: OrderedDict[str, float] = OrderedDict()  # end times (loop time), keyed by id, oldest first
        self._reserved: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """The number of items, whether running or ended."""
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        """Iterate over a copy, so that items can be added and dropped during the iteration."""
        return iter(list(self._items.values()))

    @property
    def running(self) -> list[T]:
        """The items that haven't ended."""
        return [item for name, item in self._items.items() if name not in self._ended]

    @property
    def running_count(self) -> int:
        """The number of items that haven't ended."""
        return len(self._items) - len(self._ended)

    @property
    def last_end(self) -> float | None:
        """When an item last ended (loop time), or None if none has."""
        return next(reversed(self._ended.values()), None)

    def find(self, item_id: str) -> T | None:
        """Return the item with this id, whether running or ended, or None if there isn't one."""
        return self._items.get(item_id)

    def get(self, item_id: str, instance: str | None = None) -> T:
        """Return the item with this id. `instance` is the expected instance; None accepts any.

        Raises:
            HawseError: `not_found` if the id is unknown, `stale_handle` if the item has another instance.
        """
        item = self._items.get(item_id)
        if item is None:
            raise HawseError("not_found", f"{self._kind} {item_id} does not exist")
        if instance is not None and instance != item.instance:
            raise HawseError(
                "stale_handle", f"{self._kind} {item_id} was restarted; instance {instance} no longer exists"
            )
        return item

    @contextmanager
    def reserve(self, item_id: str) -> Iterator[None]:
        """Reserve `item_id` during the `with` block, while the item is being started.

        Raises:
            HawseError: `conflict` if an item with this id is running or starting, `limit_exceeded` if the limit is
                reached.
        """
        item = self._items.get(item_id)
        if item is not None and item_id not in self._ended:
            raise HawseError(
                "conflict", f"{self._kind} {item_id} is already running", details={"instance": item.instance}
            )
        if item_id in self._reserved:
            raise HawseError("conflict", f"{self._kind} {item_id} is already being started")
        if self.limit is not None and self.running_count + len(self._reserved) >= self.limit:
            raise HawseError("limit_exceeded", f"{self._kind} limit reached: {self.limit} are running or starting")
        self._reserved.add(item_id)
        try:
            yield
        finally:
            self._reserved.discard(item_id)

    def add(self, item: T) -> None:
        """Add a running item. It can replace an item with the same id that has ended, but not a running one."""
        assert item.id not in self._items or item.id in self._ended, f"{self._kind} {item.id} is running"
        earlier = self._items.get(item.id)
        if earlier is not None:
            self.drop(earlier)
        self._items[item.id] = item
        self._reserved.discard(item.id)

    def end(self, item: T) -> None:
        """Record that `item` has ended, which starts its retention. Has no effect if it was dropped or has already
        ended.
        """
        if self._items.get(item.id) is item and item.id not in self._ended:
            self._ended[item.id] = self._now()
            self._trim()

    def resume(self, item: T) -> None:
        """Record that `item` is back in use, which ends its retention."""
        if self._items.get(item.id) is item:
            self._ended.pop(item.id, None)

    def drop(self, item: T) -> None:
        """Remove `item` immediately and call `on_drop`. Has no effect if the item has already been removed."""
        if self.remove(item) and self._on_drop is not None:
            self._on_drop(item)

    def remove(self, item: T) -> bool:
        """Remove `item` without calling `on_drop`, for callers that are still using the item. Return whether it was
        present.
        """
        if self._items.get(item.id) is not item:
            return False
        del self._items[item.id]
        self._ended.pop(item.id, None)
        return True

    def drop_oldest_ended(self) -> bool:
        """Drop the item that ended first. Return whether there was one."""
        if not self._ended:
            return False
        self.drop(self._items[next(iter(self._ended))])
        return True

    async def close(self, end: Callable[[T], Awaitable[object]] | None = None) -> None:
        """End all running items concurrently, then drop all items.

        Args:
            end: Ends one item within the caller's grace period. Errors are logged.
        """
        running = self.running if end is not None else []
        results = await asyncio.gather(*(end(item) for item in running if end is not None), return_exceptions=True)
        for item, result in zip(running, results, strict=True):
            if isinstance(result, BaseException):
                log.error("! cannot end %s %s: %s", self._kind, item.id, result)
        for item in self:
            self.drop(item)
        self._stop_timer()

    # ---- retention

    def _trim(self) -> None:
        """Drop surplus and expired items, and start a timer for when the next one expires."""
        self._stop_timer()
        count, age = self.retention.count, self.retention.age
        while len(self._ended) > count or (self._ended and age is not None and self._oldest() <= self._now() - age):
            self.drop_oldest_ended()
        if self._ended and age is not None:
            self._timer = asyncio.get_running_loop().call_at(self._oldest() + age, self._trim)

    def _oldest(self) -> float:
        return next(iter(self._ended.values()))

    def _now(self) -> float:
        return asyncio.get_running_loop().time() if self.retention.age is not None else 0.0

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
