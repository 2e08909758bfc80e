"""Callbacks that do not keep alive whom they call.

What a terminal or a process is made of calls it back. If that held it, it would stay, with its journals, until the
garbage collector comes round: after thousands of others.
"""

import weakref
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Weakly(Generic[P, T]):
    """A bound method of an object that somebody else owns. When that is gone, a call raises `ReferenceError`."""

    __slots__ = ("_function", "_owner")

    def __init__(self, method: Callable[P, T]) -> None:
        bound: Any = method
        self._owner = weakref.ref(bound.__self__)  # half the size and the time of a `WeakMethod`
        self._function: Callable[..., T] = bound.__func__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        owner = self._owner()
        if owner is None:
            raise ReferenceError("who was to be called is gone")
        return self._function(owner, *args, **kwargs)
