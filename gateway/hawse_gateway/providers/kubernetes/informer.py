"""Keeps the objects of one kind up to date, using a watch.

The objects are listed once, page by page. Then a watch reports each change. If the connection is lost, the next watch
continues after the latest version received. If there are no changes, the cluster reports the latest version with
bookmarks.

https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from hawse.wire import HawseError
from hawse_gateway.core.cancellation import cancellation_kept
from hawse_gateway.providers.kubernetes.objects import ObjectSummary

log = logging.getLogger(__name__)

RESYNC: Final = 3600.0  # seconds between lists, in case versions are repeated after etcd is restored from a backup
RETRY_MIN: Final = 0.1  # seconds to wait after an error before retrying; doubled after each error
RETRY_MAX: Final = 10.0
STEADY: Final = 10.0  # seconds that a watch must last before the delay after an error is reset
REMOVED: Final = 1000  # maximum number of removed objects to remember

O = TypeVar("O", bound=ObjectSummary)  # noqa: E741
V = TypeVar("V")


class ExpiredError(Exception):
    """The cluster no longer has all changes made since the requested version (410 Gone)."""


class Change(NamedTuple, Generic[O]):
    """A change reported by a watch.

    Attributes:
        type: `ADDED`, `MODIFIED`, `DELETED`, or `BOOKMARK`, which only reports a version.
        version: The version after the change, or None if it could not be read.
        object: The object. None if the change is a bookmark or the object could not be read.
    """

    type: str
    version: str | None
    object: O | None = None


class ObjectSource(Protocol[O]):
    """Lists and watches objects of one kind. Both methods raise `HawseError` (`unavailable`)."""

    kind: str  # the display name for this kind of object

    def pages(self) -> AsyncIterator[tuple[str, list[O]]]:
        """Yield pages of all objects, each with the list's version.

        Raises:
            ExpiredError: The cluster no longer has the version of the first page.
        """
        ...

    def watch(self, version: str) -> AsyncIterator[Change[O]]:
        """Yield a bookmark once the watch is open, and then each change made since a version. Stop when the cluster
        ends the watch.

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
        current: Whether the watch is open. Without an open watch, recent changes can be missing.
    """

    def __init__(self, source: ObjectSource[O], resync: float = RESYNC) -> None:
        """Create an empty list.

        Args:
            source: Lists and watches the objects.
            resync: Seconds between lists.
        """
        self.objects: dict[str, O] = {}
        self.removed: dict[str, O] = {}
        self.listed = False
        self.current = False
        self._source = source
        self._resync = resync
        self._version: str | None = None  # the latest version received; None if the objects must be listed
        self._relist_at = 0.0
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """List the objects and follow their changes until cancelled."""
        delay = RETRY_MIN
        while True:
            opened: float | None = None  # when the watch was opened
            try:
                with cancellation_kept():
                    if self._version is None or time.monotonic() >= self._relist_at:
                        await self._list()
                    opened = time.monotonic()
                    await self._follow()
            except ExpiredError:
                self._version = None
                log.info("= %s: the cluster no longer knows the latest version, listing again", self._source.kind)
            except HawseError as error:
                log.warning("! cannot watch %s: %s", self._source.kind, error.message)
            if opened is not None and time.monotonic() - opened >= STEADY:
                delay = RETRY_MIN
                continue
            self.current = False
            self._notify()
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

    async def _list(self) -> None:
        """List all objects, and forget known objects that aren't in the list. Their removal has not been reported."""
        version: str | None = None
        names: set[str] = set()
        async for listed, page in self._source.pages():
            version = version or listed  # from the first page, so that the watch reports changes made since then
            for each in page:
                names.add(each.name)
                self._put(each)
            self._notify()
        for name in self.objects.keys() - names:
            self._remember(self.objects.pop(name))
        self._version, self._relist_at = version, time.monotonic() + self._resync
        self.listed = self.current = True
        self._notify()

    async def _follow(self) -> None:
        """Apply changes until the watch ends."""
        assert self._version is not None
        async for change, version, each in self._source.watch(self._version):
            self._version = version or self._version
            if change == "BOOKMARK":
                if self.current:
                    continue
                self.current = True
            elif each is not None and change == "DELETED":
                self.objects.pop(each.name, None)
                self._remember(each)
            elif each is not None:
                self._put(each)
            self._notify()

    def _put(self, each: O) -> None:
        self.removed.pop(each.name, None)
        if (known := self.objects.get(each.name)) is None:
            self.objects[each.name] = each
        elif known != each:
            self.objects[known.name] = msgspec.structs.replace(each, name=known.name)  # keeps only one copy of the name

    def _remember(self, removed: O) -> None:
        self.removed.pop(removed.name, None)
        self.removed[removed.name] = removed
        if len(self.removed) > REMOVED:
            del self.removed[next(iter(self.removed))]

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
