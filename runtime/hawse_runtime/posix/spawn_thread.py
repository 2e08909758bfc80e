"""A thread in which programs are started.

Namespaces for children, capabilities, system-call filters, keyrings and cgroups belong to a thread, and a child
inherits them from the thread that starts it. So one thread that has given everything up starts all user code, and a
program costs no more than `posix_spawn` (docs/decisions/0085).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class SpawnThread:
    """One thread for as long as the process lives, with a working directory of its own."""

    def __init__(self, prepare: Callable[[], None]) -> None:
        """Start the thread and run `prepare` in it. Raises what `prepare` raises."""
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="spawn")
        self.run(prepare)

    def run(self, work: Callable[[], T]) -> T:
        """Run `work` in the thread, wait for it, and return its result. Raises what it raises."""
        return self._executor.submit(work).result()

    def close(self) -> None:
        """End the thread, when it is idle."""
        self._executor.shutdown()
