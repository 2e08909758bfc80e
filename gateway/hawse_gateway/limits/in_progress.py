"""Counts work in progress, by caller."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def in_progress(counts: Counter[str], caller: str) -> Iterator[None]:
    """Count one more for `caller` until the end of the block. Callers without work have no entry in `counts`."""
    counts[caller] += 1
    try:
        yield
    finally:
        counts[caller] -= 1
        if not counts[caller]:
            del counts[caller]
