"""Sorted lists that are filled quickly."""

from bisect import insort
from collections.abc import Callable
from typing import Any, Final, TypeVar

MANY: Final = 200  # number of items above which sorting the list is faster than inserting each item

T = TypeVar("T")


def merge(ordered: list[T], added: list[T], key: Callable[[T], Any]) -> None:
    """Move all items from `added` to the sorted list `ordered`.

    Inserting an item moves half the list, so inserting all items one by one takes quadratic time.
    """
    if len(added) > MANY:
        ordered += added
        ordered.sort(key=key)
    else:
        for each in added:
            insort(ordered, each, key=key)
    added.clear()
