"""Composes a gateway from the features listed in `hawse_gateway.app.FEATURES`.

A feature builds its objects from earlier features' objects, and adds methods, routes, metrics and background
tasks. All features are built before the first one starts. They start in list order and stop in reverse order.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.middleware import Middleware
from starlette.routing import BaseRoute

T = TypeVar("T")

Collector = Callable[[Any], Awaitable[None]]  # adds metric families to a `metrics.prometheus_text.Exposition`


class Composition:
    """The objects ("parts") shared by a gateway's features, keyed by type, and the lists that features extend.

    A feature can pass a list to its objects before later features have extended it. All lists are complete once the
    gateway is running.

    Attributes:
        methods: Objects with the handlers (`hawse.rpc.handles`, `serves`) for the gateway's own methods.
        routes: The HTTP and WebSocket routes. The first match wins.
        middleware: The ASGI middleware, outermost first.
        metrics: Collectors that are called whenever `/metrics` is scraped.
        observers: Observers of all calls (`hawse_gateway.upstream.observer.CallObserver`).
        preparations: Async functions to call with the id of a running sandbox before the gateway opens a link to that
            sandbox.
        connections: The maximum number of connections to the gateway's port that features need.
        sockets: The maximum number of other sockets that features need.
        running: Context managers, which are entered in order when the gateway starts and exited in reverse order.
    """

    def __init__(self, given: Mapping[type[Any], object]) -> None:
        """Create a composition without features.

        Args:
            given: Parts that replace parts built by features, keyed by type.
        """
        self._parts: dict[type[Any], Any] = dict(given)
        self.methods: list[object] = []
        self.routes: list[BaseRoute] = []
        self.middleware: list[Middleware] = []
        self.metrics: list[Collector] = []
        self.observers: list[Any] = []
        self.preparations: list[Callable[[str], Awaitable[None]]] = []
        self.connections = self.sockets = 0
        self.running: list[AbstractAsyncContextManager[object]] = []

    def part(self, kind: type[T]) -> T:
        """Return the part with the given type. Raises `LookupError` if no earlier feature has added one."""
        try:
            part: T = self._parts[kind]
        except KeyError:
            raise LookupError(f"no feature before this one has added {kind.__name__}") from None
        return part

    def find(self, kind: type[T]) -> T | None:
        """Return the part with the given type, or None."""
        return self._parts.get(kind)

    def add(self, part: T, kind: type[T] | None = None) -> T:
        """Make a part available to later features, with its type or `kind` as the key. Return the part."""
        self._parts[kind or type(part)] = part
        return part

    def ensure(self, kind: type[T], build: Callable[[], T]) -> T:
        """Return the part with the given type, after building and adding it if necessary."""
        return self.part(kind) if kind in self._parts else self.add(build(), kind)

    def run(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Run `work` as a background task for as long as the gateway is running."""
        self.running.append(_background(work, name))

    def at_end(self, work: Callable[[], Awaitable[object]]) -> None:
        """Await `work` when the gateway stops."""
        self.running.append(_at_end(work))

    @asynccontextmanager
    async def started(self) -> AsyncIterator[None]:
        """Start all features, and stop them at the end of the block. If a feature fails to start, the earlier ones are
        stopped."""
        async with AsyncExitStack() as stack:
            for each in self.running:
                await stack.enter_async_context(each)
            yield


@dataclass(frozen=True)
class Feature:
    """One capability of a gateway.

    Attributes:
        name: The feature's name for error messages.
        build: Adds the feature's parts and extends the lists. It can use parts of earlier features.
    """

    name: str
    build: Callable[[Composition], None]


def compose(features: Iterable[Feature], given: Mapping[type[Any], object]) -> Composition:
    """Build all features in order. Raises `LookupError` if a feature is listed before one that it needs."""
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
