"""Marks classes of compiled modules whose instances are referenced weakly."""

from typing import TypeVar

T = TypeVar("T")


def supports_weakref(cls: type[T]) -> type[T]:
    """Return the class unchanged.

    An instance of a compiled class cannot be referenced weakly. mypyc turns a decorated class into a regular class with
    compiled methods.
    """
    return cls
