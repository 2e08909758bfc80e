"""Keeps a list of objects of one kind up to date, using a watch.

https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Final, Generic, Protocol, TypeVar

from hawse.wire import HawseError
from hawse_gateway.core.cancellation import cancellation_kept

log = logging.getLogger(__name__)

RESYNC: Final = 120.0  # seconds between full listings, because a lost connection can go unnoticed
RETRY_MIN: Final = 0.1  # seconds to wait before listing again after an error; doubled after each error
RETRY_MAX: Final = 10.0
STEADY: Final = 10.0  # number of seconds that a watch must last to reset the delay after errors
REMOVED: Final = 1000  # maximum number of removed objects to remember

O = TypeVar("O")  # noqa: E741
V = TypeVar("V")


class ExpiredError(Exception):
    """The cluster no longer has all changes made since the requested version (410 Gone)."""


class ObjectSource(Protocol[O]):
    """Lists and watches objects of one kind. Both methods raise `HawseError` (`unavailable`)."""

    kind: str  # a display name

    def name(self, each: O) -> str:
        """Return an object's name."""
        ...

    async def list(self) -> tuple[list[O], str]:
        """Return all objects, along with the version of the list."""
        ...

    def watch(self, version: str) -> AsyncIterator[tuple[str, O]]:
        """Yield `ADDED`, `MODIFIED` or `DELETED` along with the object, for each change made since a version.

        Raises:
            ExpiredError: The version is too old.
        """
        ...


class Informer(Generic[O]):
    """The objects of one kind, keyed by name. `run` keeps them up to date.

    Attributes:
        objects: The objects as last known. They are kept while the cluster is unreachable.
        removed: The last known states of recently removed objects.
        listed: Whether the objects have been listed at least once.
        current: Whether the watch is open. If not, recent changes can be missing.
    """

    def __init__(self, source: ObjectSource[O], resync: float = RESYNC) -> None:
        """Create an empty list.

        Args:
            source: Lists and watches the objects.
            resync: Seconds between full lists.
        """
        self.objects: dict[str, O] = {}
        self.removed: dict[str, O] = {}
        self.listed = False
        self.current = False
        self._source = source
        self._resync = resync
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """List and watch repeatedly until cancelled."""
        delay = RETRY_MIN
        while True:
            watched: float | None = None  # the time when the watch was opened
            try:
                with cancellation_kept():
                    objects, version = await self._source.list()
                    self._replace({self._source.name(each): each for each in objects})
                    self.listed = self.current = True
                    self._notify()
                    watched = time.monotonic()
                    async with asyncio.timeout(self._resync):
                        await self._follow(version)
            except TimeoutError:
                delay = RETRY_MIN
                continue
            except ExpiredError:
                if watched is not None and time.monotonic() - watched >= STEADY:  # a long watch can end like this
                    delay = RETRY_MIN
                    continue
                log.warning("! %s: the cluster no longer knows the version of the latest list", self._source.kind)
            except HawseError as error:
                log.warning("! cannot watch %s: %s", self._source.kind, error.message)
            self.current = False
            self._notify()
            if watched is not None and time.monotonic() - watched >= STEADY:
                delay = RETRY_MIN
            await asyncio.sleep(delay)
            delay = min(2 * delay, RETRY_MAX)

    async def until(self, found: Callable[[], V | None]) -> V:
        """Call a function now and after each change, until it returns a value. Return that value."""
        while True:
            changed = self._changed
            if (value := found()) is not None:
                return value
            await changed.wait()

    async def changed(self) -> None:
        """Wait for the next change."""
        await self._changed.wait()

    def _replace(self, objects: dict[str, O]) -> None:
        """Apply a list. Known objects that aren't in the list were removed without being reported."""
        for name, each in self.objects.items():
            if name not in objects:
                self._remember(name, each)
        for name in objects:
            self.removed.pop(name, None)
        self.objects = objects

    def _remember(self, name: str, removed: O) -> None:
        self.removed.pop(name, None)
        self.removed[name] = removed
        if len(self.removed) > REMOVED:
            del self.removed[next(iter(self.removed))]

    async def _follow(self, version: str) -> None:
        async for change, each in self._source.watch(version):
            name = self._source.name(each)
            if change == "DELETED":
                self.objects.pop(name, None)
                self._remember(name, each)
            else:
                self.removed.pop(name, None)
                self.objects[name] = each
            self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
