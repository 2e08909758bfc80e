"""The features of a gateway, all listed in `hawse_gateway.app.FEATURES`.

A feature builds its objects from the objects of earlier features, and contributes methods, routes, metrics and
background work. Nothing runs until all features are built. They start in list order and stop in reverse.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.middleware import Middleware
from starlette.routing import BaseRoute

T = TypeVar("T")

Collector = Callable[[Any], Awaitable[None]]  # adds families to a `hawse_gateway.metrics.prometheus_text.Exposition`


class Composition:
    """The parts of one gateway, and the contributions of its features.

    The lists can be passed on while features are still being added. Code that reads them once the gateway runs sees all
    contributions.

    Attributes:
        methods: Objects with handlers (`hawse.rpc.handles`, `serves`) of the gateway's own methods.
        routes: The routes. The first match wins.
        middleware: The middleware, outermost first.
        metrics: Called for each scrape of `/metrics`.
        observers: Notified of all calls (`hawse_gateway.upstream.observer.CallObserver`).
        preparations: Awaited with the id of a running sandbox before a link to it opens.
        running: Context managers, entered in order when the gateway starts and exited in reverse order.
    """

    def __init__(self, given: Mapping[type[Any], object]) -> None:
        """Create a composition without features.

        Args:
            given: Parts by type, which features use instead of building their own.
        """
        self._parts: dict[type[Any], Any] = dict(given)
        self.methods: list[object] = []
        self.routes: list[BaseRoute] = []
        self.middleware: list[Middleware] = []
        self.metrics: list[Collector] = []
        self.observers: list[Any] = []
        self.preparations: list[Callable[[str], Awaitable[None]]] = []
        self.running: list[AbstractAsyncContextManager[object]] = []

    def part(self, kind: type[T]) -> T:
        """Return the part of a type. Raises `LookupError` if no earlier feature has added one."""
        try:
            part: T = self._parts[kind]
        except KeyError:
            raise LookupError(f"no feature before this one has added {kind.__name__}") from None
        return part

    def find(self, kind: type[T]) -> T | None:
        """Return the part of a type, or None."""
        return self._parts.get(kind)

    def add(self, part: T, kind: type[T] | None = None) -> T:
        """Add a part for later features, under its type or `kind`, and return it."""
        self._parts[kind or type(part)] = part
        return part

    def ensure(self, kind: type[T], build: Callable[[], T]) -> T:
        """Return the part of a type; build and add it if it is missing."""
        return self.part(kind) if kind in self._parts else self.add(build(), kind)

    def run(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Run `work` in the background while the gateway runs."""
        self.running.append(_background(work, name))

    def at_end(self, work: Callable[[], Awaitable[object]]) -> None:
        """Await `work` when the gateway stops."""
        self.running.append(_at_end(work))

    @asynccontextmanager
    async def started(self) -> AsyncIterator[None]:
        """Start all features, and stop them at the end. If a feature fails to start, the earlier ones are stopped."""
        async with AsyncExitStack() as stack:
            for each in self.running:
                await stack.enter_async_context(each)
            yield


@dataclass(frozen=True)
class Feature:
    """One capability of a gateway.

    Attributes:
        name: Its name, for error messages.
        build: Adds its parts and contributions. It can use the parts of earlier features.
    """

    name: str
    build: Callable[[Composition], None]


def compose(features: Iterable[Feature], given: Mapping[type[Any], object]) -> Composition:
    """Build all features in order. Raises `LookupError` for a feature that is listed before one that it needs."""
    composition = Composition(given)
    for feature in features:
        try:
            feature.build(composition)
        except LookupError as error:
            raise LookupError(f"feature {feature.name}: {error}") from error
    return composition


@asynccontextmanager
async def _background(work: Callable[[], Coroutine[Any, Any, None]], name: str) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(work(), name=name)
        yield
        task.cancel()


@asynccontextmanager
async def _at_end(work: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await work()
