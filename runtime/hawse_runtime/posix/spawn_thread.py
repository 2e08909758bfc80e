"""A thread that starts programs.

Some attributes belong to a thread: capabilities, system call filters, keyrings, cgroups, and its children's namespaces.
Children inherit them. All user code is therefore started by one unprivileged thread, and starting a program costs no
more than `posix_spawn` (docs/decisions/0085).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class SpawnThread:
    """A thread that lives as long as the process and has its own working directory."""

    def __init__(self, prepare: Callable[[], None]) -> None:
        """Start the thread and run `prepare` in it. Exceptions raised by `prepare` are reraised here."""
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="spawn")
        self.run(prepare)

    def run(self, work: Callable[[], T]) -> T:
        """Run `work` in the thread and return its result. Exceptions raised by `work` are reraised here."""
        return self._executor.submit(work).result()

    def close(self) -> None:
        """End the thread once its work is done."""
        self._executor.shutdown()
