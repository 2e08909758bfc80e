"""Counts running operations per caller."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def in_progress(counts: Counter[str], caller: str) -> Iterator[None]:
    """Count one operation of `caller` while the `with` block runs. `counts` has no entries with the value 0."""
    counts[caller] += 1
    try:
        yield
    finally:
        counts[caller] -= 1
        if not counts[caller]:
            del counts[caller]
