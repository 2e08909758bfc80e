"""Runs tests of the asynchronous client through `hawse.sync`: each synchronous call gets a thread.

`connect` returns an object with the interface of an asynchronous client. Coroutine functions, async iterators and async
context managers run their synchronous counterparts in a thread. Everything else is called directly, as in a program
that uses `hawse.sync`.
"""

import asyncio
import contextvars
import inspect
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Final, TypeVar

import hawse
import hawse.sync

R = TypeVar("R")
Connect = Callable[..., hawse.Client]

THREADS: Final = 256  # the maximum number of concurrent calls; further calls wait
_END: Final = object()
_POOL: Final = ThreadPoolExecutor(THREADS, thread_name_prefix="bridge")
_WRAPPED: Final = {kind for kind in vars(hawse.sync).values() if hasattr(kind, "asynchronous")}
# The types whose values exist only after they are awaited or entered.
_AWAITED: Final = {"SandboxCreation", "ProcessStarting"} | {
    kind.asynchronous.__name__ for kind in _WRAPPED if hasattr(kind.asynchronous, "__await__")
}


def connect(*arguments: Any, **options: Any) -> Any:
    """Replace `hawse.connect`."""
    return Pending(lambda: hawse.sync.connect(*arguments, **options))


async def in_thread(function: Callable[..., R], *arguments: Any) -> R:
    """Call a function in a thread. Cancellation does not end the call, because threads cannot be cancelled."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_POOL, lambda: context.run(function, *arguments))


def bridged(value: Any) -> Any:
    """Wrap a value of the synchronous client; most values are returned unchanged."""
    if type(value) in _WRAPPED:
        return Bridge(value)
    if isinstance(value, Iterator):
        return BridgedIterator(value)
    if isinstance(value, AbstractContextManager):
        return BridgedContext(value)
    return value


def unbridged(value: Any) -> Any:
    """Unwrap a value to pass it to the synchronous client."""
    if isinstance(value, Bridge):
        return value.bridge_target
    if isinstance(value, AsyncIterable):
        return _iterate(aiter(value), asyncio.get_running_loop())
    return value


class Pending:
    """The result of a call that is made when this object is awaited or entered."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._entered: Any

    def __await__(self) -> Generator[Any, Any, Any]:
        return self.result().__await__()

    async def result(self) -> Any:
        return bridged(await in_thread(self._call))

    async def __aenter__(self) -> Any:
        self._entered = await self
        return await self._entered.__aenter__()

    async def __aexit__(self, *error: Any) -> Any:
        return await self._entered.__aexit__(*error)


class BridgedContext:
    """An async context manager that wraps a synchronous context manager."""

    def __init__(self, target: Any) -> None:
        self.bridge_target = target

    async def __aenter__(self) -> Any:
        entered = await in_thread(self.bridge_target.__enter__)
        return self if entered is self.bridge_target else bridged(entered)

    async def __aexit__(self, *error: Any) -> Any:
        return await in_thread(self.bridge_target.__exit__, *error)


class BridgedIterator:
    """An async iterator that wraps a synchronous iterator."""

    def __init__(self, target: Iterator[Any]) -> None:
        self._target = target

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        item = await in_thread(next, self._target, _END)
        if item is _END:
            raise StopAsyncIteration
        return bridged(item)

    async def aclose(self) -> None:
        if hasattr(self._target, "close"):
            await in_thread(self._target.close)


class Bridge(BridgedContext):
    """Wraps an object of the synchronous client, with the methods of the asynchronous client."""

    def __init__(self, target: Any) -> None:
        super().__init__(target)
        self._asynchronous = type(target).asynchronous

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.bridge_target, name)
        if not callable(value):
            return bridged(value)
        function = getattr(self._asynchronous, name)

        def call(*arguments: Any, **options: Any) -> Any:
            passed = [unbridged(argument) for argument in arguments]
            named = {key: unbridged(option) for key, option in options.items()}
            if inspect.iscoroutinefunction(function):
                return Pending(lambda: value(*passed, **named)).result()
            if str(inspect.signature(function).return_annotation).strip("'\"") in _AWAITED or _is_awaited(function):
                return Pending(lambda: value(*passed, **named))
            return bridged(value(*passed, **named))

        return call

    def __aiter__(self) -> AsyncIterator[Any]:
        return BridgedIterator(iter(self.bridge_target))

    async def __anext__(self) -> Any:
        return await anext(BridgedIterator(self.bridge_target))

    def __await__(self) -> Generator[Any, Any, "Bridge"]:
        return _returned(self).__await__()


async def _returned(value: R) -> R:
    return value


def _is_awaited(function: Callable[..., Any]) -> bool:
    kind = inspect.signature(function).return_annotation
    return isinstance(kind, type) and issubclass(kind, Awaitable)


def _iterate(items: AsyncIterator[Any], loop: asyncio.AbstractEventLoop) -> Iterator[Any]:
    """Iterate, in a thread, over the items of an async iterator in the test's loop."""

    async def following() -> Any:
        return await anext(items, _END)

    while (item := asyncio.run_coroutine_threadsafe(following(), loop).result()) is not _END:
        yield item
