"""Callbacks that don't keep their objects alive.

The components of a terminal or process hold callbacks to its methods. Strong references would form cycles, and journals
would stay in memory until the garbage collector runs, which happens only after thousands of new objects.
"""

import weakref
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class WeakCallback(Generic[P, T]):
    """A weak reference to a bound method. Once the method's object has been deleted, calls do nothing."""

    __slots__ = ("_default", "_function", "_owner")

    def __init__(self, method: Callable[P, T], default: Any = None) -> None:
        """Wrap `method`. Once the object has been deleted, calls return `default`."""
        bound: Any = method
        self._owner = weakref.ref(bound.__self__)  # half the size of a `WeakMethod`, and twice as fast
        self._function: Callable[..., T] = bound.__func__
        self._default: T = default

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        owner = self._owner()
        return self._default if owner is None else self._function(owner, *args, **kwargs)
