"""For classes whose instances are referenced weakly, and whose modules may be compiled."""

from typing import TypeVar

T = TypeVar("T")


def referable(cls: type[T]) -> type[T]:
    """Return the class unchanged.

    An instance of a compiled class cannot be referenced weakly. mypyc makes a usual class, with compiled methods, of
    one that has a decorator.
    """
    return cls
