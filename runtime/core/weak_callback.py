"""Callbacks that do not keep alive whom they call.

What a terminal or a process is made of calls it back. If that held it, it would stay, with its journals, until the
garbage collector comes round: after thousands of others.
"""

import weakref
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class WeakCallback(Generic[P, T]):
    """A bound method of an object that it does not keep alive. After the object is deleted, a call does nothing."""

    __slots__ = ("_default", "_function", "_owner")

    def __init__(self, method: Callable[P, T], default: Any = None) -> None:
        """`default`: what a call returns after the object is deleted."""
        bound: Any = method
        self._owner = weakref.ref(bound.__self__)  # half the size and the time of a `WeakMethod`
        self._function: Callable[..., T] = bound.__func__
        self._default: T = default

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        owner = self._owner()
        return self._default if owner is None else self._function(owner, *args, **kwargs)
