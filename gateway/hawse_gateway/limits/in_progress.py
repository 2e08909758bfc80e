"""Counts what is in progress, by who has begun it."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def in_progress(counts: Counter[str], caller: str) -> Iterator[None]:
    """Count one more of `caller` until the end of the block. `counts` has no entry for those that have none."""
    counts[caller] += 1
    try:
        yield
    finally:
        counts[caller] -= 1
        if not counts[caller]:
            del counts[caller]
