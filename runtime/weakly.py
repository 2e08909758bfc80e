"""Callbacks that do not keep alive whom they call.

What a terminal or a process is made of calls it back. If that held it, it would stay, with its journals, until the
garbage collector comes round: after thousands of others.
"""

import weakref
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Weakly(Generic[P, T]):
    """A bound method of an object that somebody else owns. When that is gone, a call raises `ReferenceError`."""

    __slots__ = ("_method",)

    def __init__(self, method: Callable[P, T]) -> None:
        self._method = weakref.WeakMethod(method)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        method = self._method()
        if method is None:
            raise ReferenceError("who was to be called is gone")
        return method(*args, **kwargs)
