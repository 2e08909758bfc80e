"""Derives a synchronous class from each class of the asynchronous client, with the same methods and documentation.

A coroutine function becomes a function that returns the result, an async iterator becomes an iterator, and an async
context manager becomes a context manager. Results that are instances of client classes are wrapped as well.
"""

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import is_dataclass
from types import TracebackType
from typing import Any, ClassVar, Final

from hawse import EXPORTS, load
from hawse.sync.background import BackgroundLoop, EnteredContext
from hawse.sync.deadline import limited

_END: Final = object()
_SPECIAL: Final = {"__call__"}  # special methods to forward
_AWAITED: Final = {"FileListing", "SandboxCreation", "SandboxOpening"}  # synchronous calls return the awaited result


class SyncObject:
    """The base class of the synchronous classes. `asynchronous` is the class that a subclass wraps; `target` is the
    wrapped object.
    """

    asynchronous: ClassVar[type]

    def __init__(self, loop: BackgroundLoop, target: Any) -> None:
        self._loop = loop
        self.target = target
        self._entered: EnteredContext | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return wrap(self._loop, self._loop.call(getattr, self.target, name))  # an instance attribute

    def __repr__(self) -> str:
        return f"<synchronous {self.target!r}>"


class SyncContext:
    """A context manager that enters an async context manager."""

    def __init__(self, loop: BackgroundLoop, context: AbstractAsyncContextManager[Any]) -> None:
        self._loop = loop
        self._entered = EnteredContext(loop, context)

    def __enter__(self) -> Any:
        return wrap(self._loop, self._entered.enter())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return self._entered.leave(error)


class SyncIterator(Iterator[Any]):
    """An iterator over an async iterator."""

    def __init__(self, loop: BackgroundLoop, items: AsyncIterator[Any]) -> None:
        self._loop = loop
        self._items = items

    def __next__(self) -> Any:
        item = self._loop.run(limited(_next, self._items))
        if item is _END:
            raise StopIteration
        return wrap(self._loop, item)

    def __del__(self) -> None:
        self._loop.release([self.__dict__.pop("_items")])

    def close(self) -> None:
        """End the iteration and release its resources."""
        if (close := getattr(self._items, "aclose", None)) is not None:
            self._loop.run(close())


_classes: dict[type, type[SyncObject]] = {}  # maps each asynchronous class to its synchronous one
_created: set[type] = set()  # classes whose instances are awaited to get the created object


def handles() -> dict[str, type]:
    """Return the public classes that need a synchronous class, keyed by name and in the order of `EXPORTS`."""
    names = (name for module, names in EXPORTS.items() if module.startswith("hawse.client") for name in names.split())
    found = {name: load(name) for name in names}
    return {name: cls for name, cls in found.items() if isinstance(cls, type) and _is_handle(cls)}


def _is_handle(cls: type) -> bool:
    if cls.__name__ in _AWAITED or is_dataclass(cls):
        return False
    members = (member for name, member in inspect.getmembers(cls) if name[0] != "_" or name == "__aenter__")
    return any(inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each) for each in members)


def creates(cls: type, made: type[SyncObject]) -> None:
    """Declare that synchronous calls return the object created by awaiting a `cls`.

    Args:
        cls: A class that can be awaited, or entered with `async with`.
        made: The synchronous class for the created object, which is a context manager.
    """
    _classes[cls] = made
    _created.add(cls)


def stands_for(cls: type, made: type[SyncObject]) -> None:
    """Wrap instances of the asynchronous `cls` in `made`, a subclass of the synchronous class."""
    _classes[cls] = made


def synchronous(cls: type) -> Any:
    """Create and register the synchronous class for `cls`. Instances of `cls` are wrapped in it from now on."""
    members: dict[str, Any] = {"__doc__": _documentation(cls), "__module__": "hawse.sync", "asynchronous": cls}
    for name, member in inspect.getmembers(cls):
        if inspect.ismethod(member):  # a class method has no instance, so it has no loop to run in
            continue
        if isinstance(member, property):
            members.update({name: _property(name, member)} if not name.startswith("_") else {})
        elif callable(member) and (not name.startswith("_") or name in _SPECIAL) and not isinstance(member, type):
            members[name] = _method(name, member)
    if hasattr(cls, "__aenter__"):
        members |= {"__enter__": _enter, "__exit__": _exit}
    if hasattr(cls, "__del__"):
        members["__del__"] = _release
    if hasattr(cls, "__aiter__"):
        members["__iter__"] = _iterate
    if hasattr(cls, "__anext__"):
        members["__next__"] = lambda self: next(_iterate(self))
    made = type(cls.__name__, (SyncObject,), members)
    _classes[cls] = made
    return made


def wrap(loop: BackgroundLoop, value: Any) -> Any:
    """Convert `value` for the synchronous client. Most values are left unchanged."""
    if (made := _classes.get(type(value))) is not None:
        return made(loop, value)
    if isinstance(value, AbstractAsyncContextManager):
        return SyncContext(loop, value)
    if isinstance(value, AsyncIterator):
        return SyncIterator(loop, value)
    return value


def unwrap(value: Any) -> Any:
    """Convert an argument for the asynchronous client. An iterator becomes an async iterator."""
    if isinstance(value, SyncObject):
        return value.target
    if isinstance(value, Iterator):
        return _iterate_in_thread(value)
    return value


def _documentation(documented: object) -> str | None:
    """Return the docstring of a class or function, without wording that only applies to the asynchronous client."""
    text = documented.__doc__
    return text and text.replace("async with", "with").replace("async for", "for").replace("await ", "")


def _method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(self: SyncObject, *arguments: Any, **options: Any) -> Any:
        passed = [unwrap(argument) for argument in arguments]
        named = {key: unwrap(option) for key, option in options.items()}
        result, kind = self._loop.run(limited(_call, getattr(self.target, name), passed, named))
        return _classes[kind](self._loop, result) if kind in _created else wrap(self._loop, result)

    call.__doc__ = _documentation(function)
    call.__dict__.pop("__wrapped__", None)  # keeps inspect from treating `call` as a coroutine function
    call.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # what help() shows
    return call


async def _call(function: Callable[..., Any], arguments: Iterable[Any], options: dict[str, Any]) -> tuple[Any, type]:
    """Call a function and await its result unless it is an iterator. Returns the result and the type before
    awaiting.
    """
    result = function(*arguments, **options)
    awaited = isinstance(result, Awaitable) and not isinstance(result, AsyncIterator)
    return await result if awaited else result, type(result)


def _property(name: str, member: property) -> property:
    def read(self: SyncObject) -> Any:
        return wrap(self._loop, self._loop.call(getattr, self.target, name))

    return property(read, doc=_documentation(member))


def _enter(self: SyncObject) -> SyncObject:
    self._entered = EnteredContext(self._loop, self.target)
    self._entered.enter()
    return self


def _exit(
    self: SyncObject, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
) -> bool:
    assert self._entered is not None
    return self._entered.leave(error)


def _release(self: SyncObject) -> None:
    self._loop.release([self.__dict__.pop("target")])


def _iterate(self: SyncObject) -> SyncIterator:
    return SyncIterator(self._loop, self._loop.call(lambda: aiter(self.target)))


async def _next(items: AsyncIterator[Any]) -> Any:
    """Return the next item, or `_END` at the end, because a future cannot hold `StopIteration`."""
    return await anext(items, _END)


async def _iterate_in_thread(items: Iterator[Any]) -> AsyncIterator[Any]:
    while (item := await asyncio.to_thread(next, items, _END)) is not _END:
        yield item
