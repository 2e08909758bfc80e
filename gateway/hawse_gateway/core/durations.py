"""Counts durations in buckets, for the histograms of `/metrics`."""

from bisect import bisect_left
from collections.abc import Sequence


class Durations:
    """The number of durations in each bucket, and their sum.

    Attributes:
        bounds: The upper bound of each bucket in seconds, ascending.
        counts: The number of durations in each bucket. The last one is for durations above the last bound.
        total: The sum of all durations in seconds.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.total += seconds
