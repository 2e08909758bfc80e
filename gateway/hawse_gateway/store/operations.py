"""Measures a store's operations, for metrics."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from hawse_gateway.core.durations import Durations
from hawse_gateway.store.base import ConflictError, LeaseLostError, StoreError

BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)  # seconds; Redis times out after 5 s


class StoreOperations:
    """The durations of a store's operations.

    Attributes:
        seconds: The durations, including the wait for a connection. Failed operations count too.
        failed: The number of operations that failed because the store was unavailable.
    """

    def __init__(self) -> None:
        self.seconds = Durations(BOUNDS)
        self.failed = 0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measure the operation in the `with` block."""
        started = time.monotonic()
        try:
            yield
        except (ConflictError, LeaseLostError):
            raise  # the store has responded, so the operation doesn't count as failed
        except StoreError:
            self.failed += 1
            raise
        finally:
            self.seconds.add(time.monotonic() - started)
