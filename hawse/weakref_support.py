"""Marks classes in compiled modules that must support weak references."""

from typing import TypeVar

T = TypeVar("T")


def supports_weakref(cls: type[T]) -> type[T]:
    """Return the class unchanged.

    Instances of compiled classes do not support weak references. mypyc turns a decorated class into a regular class
    with compiled methods.
    """
    return cls
