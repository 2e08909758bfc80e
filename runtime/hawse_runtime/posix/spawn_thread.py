"""A thread that starts programs.

Namespaces for children, capabilities, system-call filters, keyrings and cgroups belong to a thread, and children
inherit them. One unprivileged thread therefore starts all user code, and starting a program costs no more than
`posix_spawn` (docs/decisions/0085).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class SpawnThread:
    """One thread for the lifetime of the process, with its own working directory."""

    def __init__(self, prepare: Callable[[], None]) -> None:
        """Start the thread and run `prepare` in it. Propagates its exceptions."""
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="spawn")
        self.run(prepare)

    def run(self, work: Callable[[], T]) -> T:
        """Run `work` in the thread, wait for it, and return its result. Propagates its exceptions."""
        return self._executor.submit(work).result()

    def close(self) -> None:
        """End the thread once it is idle."""
        self._executor.shutdown()
