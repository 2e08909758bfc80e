"""Counts each caller's operations in progress."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def in_progress(counts: Counter[str], caller: str) -> Iterator[None]:
    """Count an operation by `caller` while the `with` block runs. Entries of `counts` are removed when they reach 0."""
    counts[caller] += 1
    try:
        yield
    finally:
        counts[caller] -= 1
        if not counts[caller]:
            del counts[caller]
