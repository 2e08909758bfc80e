import inspect
import threading
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from hawse.sync.background import BackgroundLoop
from hawse.sync.wrapping import SyncObject, creates, stands_for, synchronous, wrap


class Part:
    """A part, entered by `async with`."""

    def __init__(self) -> None:
        self.entered = False

    async def __aenter__(self) -> "Part":
        self.entered = True
        return self

    async def __aexit__(self, *error: object) -> None:
        self.entered = False

    def __aiter__(self) -> AsyncIterator[int]:
        return count()


async def count() -> AsyncIterator[int]:
    for number in range(3):
        yield number


class Numbers:
    """An iterator with a finalizer, as streams of output have it."""

    def __init__(self, threads: list[int]) -> None:
        self.threads = threads

    def __aiter__(self) -> "Numbers":
        return self

    async def __anext__(self) -> int:
        return 1

    def __del__(self) -> None:
        self.threads.append(threading.get_ident())


class Creation:
    """Awaited, it creates a part; entered, it would remove it again."""

    def __await__(self):
        return self._create().__await__()

    async def _create(self) -> Part:
        return Part()


class CreatedPart(SyncObject):
    """The synchronous object of a created part."""


class Whole:
    """A whole."""

    def part(self) -> Part:
        return Part()

    @property
    def inner(self) -> Part:
        """The inner part: `await` nothing."""
        return Part()

    async def add(self, one: int, two: int = 2) -> int:
        """Add: `await whole.add(1)`."""
        return one + two

    async def collect(self, items: AsyncIterable[bytes]) -> list[bytes]:
        return [item async for item in items]

    async def same(self, part: object) -> bool:
        return isinstance(part, Part)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Part]:
        yield Part()

    def create(self) -> Creation:
        return Creation()

    async def fail(self) -> None:
        raise KeyError("missing")


SyncPart, SyncWhole = synchronous(Part), synchronous(Whole)


@pytest.fixture
def whole() -> Iterator[SyncObject]:
    loop = BackgroundLoop()
    yield wrap(loop, Whole())
    loop.stop()


def test_coroutines_become_functions_with_the_same_signature_and_documentation(whole) -> None:
    assert whole.add(1, two=5) == 6
    assert str(inspect.signature(SyncWhole.add)) == "(self, one: int, two: int = 2) -> int"
    assert SyncWhole.add.__doc__ == "Add: `whole.add(1)`."
    assert not inspect.iscoroutinefunction(SyncWhole.add)
    assert SyncPart.__doc__ == "A part, entered by `with`."


def test_exceptions_are_the_same(whole) -> None:
    with pytest.raises(KeyError, match="missing"):
        whole.fail()


def test_objects_of_wrapped_classes_are_wrapped_and_unwrapped(whole) -> None:
    assert isinstance(whole.part(), SyncPart)
    assert isinstance(whole.inner, SyncPart)
    assert whole.same(whole.part())


def test_async_contexts_become_contexts(whole) -> None:
    with whole.part() as part:
        assert part.target.entered
    assert not part.target.entered
    with whole.opened() as part:
        assert isinstance(part, SyncPart)


def test_async_iterators_become_iterators(whole) -> None:
    assert list(whole.part()) == [0, 1, 2]
    numbers = iter(whole.part())
    assert next(numbers) == 0
    numbers.close()
    assert list(numbers) == []


def test_an_iterator_as_an_argument_becomes_asynchronous(whole) -> None:
    assert whole.collect(iter([b"a", b"b"])) == [b"a", b"b"]


def test_what_is_created_by_awaiting_has_a_class_of_its_own(whole) -> None:
    creates(Creation, CreatedPart)
    created = whole.create()
    assert isinstance(created, CreatedPart)
    assert isinstance(created.target, Part)


@pytest.mark.parametrize("of_a_class", [True, False])
def test_what_an_iterator_holds_is_released_in_the_thread_of_the_loop(of_a_class: bool) -> None:
    cls = type("Copy", (Numbers,), {})
    if of_a_class:
        synchronous(cls)
    threads: list[int] = []
    loop = BackgroundLoop()
    assert next(wrap(loop, cls(threads))) == 1
    assert threads == [loop.call(threading.get_ident)]
    loop.stop()


def test_other_values_stay_as_they_are() -> None:
    assert wrap(None, [1]) == [1]  # type: ignore[arg-type]


def test_a_subclass_can_stand_for_a_class_and_has_class_methods_of_its_own() -> None:
    class Box:
        @classmethod
        async def create(cls) -> "Box":
            return cls()

    made = synchronous(Box)
    assert not hasattr(made, "create"), "there is no object whose loop could run it"

    class SyncBox(made):  # type: ignore[misc,valid-type]
        pass

    stands_for(Box, SyncBox)
    loop = BackgroundLoop()
    assert type(wrap(loop, Box())) is SyncBox
    loop.stop()
