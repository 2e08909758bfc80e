"""Callbacks that do not keep their object alive.

The parts of a terminal or a process call it back. Strong references would form cycles and keep its journals in memory
until the garbage collector runs, thousands of objects later.
"""

import weakref
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class WeakCallback(Generic[P, T]):
    """A weakly bound method. After its object is deleted, a call does nothing."""

    __slots__ = ("_default", "_function", "_owner")

    def __init__(self, method: Callable[P, T], default: Any = None) -> None:
        """`default`: the result of a call after the object is deleted."""
        bound: Any = method
        self._owner = weakref.ref(bound.__self__)  # half the size and time of a `WeakMethod`
        self._function: Callable[..., T] = bound.__func__
        self._default: T = default

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        owner = self._owner()
        return self._default if owner is None else self._function(owner, *args, **kwargs)
