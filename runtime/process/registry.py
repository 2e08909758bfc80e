"""The processes by id: those that run, and of those that have ended the latest, for a day at most."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from msgspec import structs

from hawse.api.processes import ProcessInfo, ProcessListResult
from hawse.wire import HawseError
from runtime.process.process import Process
from runtime.rpc.handle_checks import check_instance

ARGV_TOLD = 256  # characters of an argv in a list, which has to fit into one message


class Retention(NamedTuple):
    """How long what has ended is kept: until there are `number` later ones, or for `age` seconds."""

    number: int = 256
    age: float = 24 * 3600.0


class ProcessRegistry:
    """At most one instance of an id. What is dropped is forgotten with what it has on disk."""

    def __init__(self, keep: Retention) -> None:
        self._keep = keep
        self._processes: dict[str, Process] = {}
        self._ended: OrderedDict[str, float] = OrderedDict()  # id: when, by the loop's clock; the oldest first
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._processes)

    def __iter__(self) -> Iterator[Process]:
        return iter(list(self._processes.values()))

    def get(self, process_id: str, instance: str | None = None) -> Process:
        """Raises `not_found` and `stale_handle`."""
        process = self._processes.get(process_id)
        if process is None:
            raise HawseError("not_found", f"no process {process_id}")
        check_instance("process", process, instance)
        return process

    def check_free(self, process_id: str) -> None:
        """Raises `conflict` if a process of that id runs."""
        existing = self._processes.get(process_id)
        if existing is not None and existing.exit is None:
            raise HawseError("conflict", f"process {process_id} is running", details={"instance": existing.instance})

    def add(self, process: Process) -> None:
        """It takes the place of one that has ended."""
        if process.id in self._ended:
            self._drop(process.id)
        self._processes[process.id] = process

    def ended(self, process: Process) -> None:
        self._ended[process.id] = self._loop.time()
        self._trim()

    def list(self, after: str | None, limit: int) -> ProcessListResult:
        """The next `limit` records behind `after`, in the order in which they were started."""
        names = iter(self._processes)
        if after is not None and after in self._processes:
            next(name for name in names if name == after)
        chosen = [_short(self._processes[name].describe()) for name in islice(names, limit)]
        return ProcessListResult(processes=chosen, more=next(names, None) is not None)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for process in self._processes.values():
            process.forget()

    def _trim(self) -> None:
        """Drop what is too much or too old, and come back when the next one is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        oldest = self._loop.time() - self._keep.age
        while self._ended and (len(self._ended) > self._keep.number or next(iter(self._ended.values())) <= oldest):
            self._drop(next(iter(self._ended)))
        if self._ended:
            self._timer = self._loop.call_at(next(iter(self._ended.values())) + self._keep.age, self._trim)

    def _drop(self, process_id: str) -> None:
        del self._ended[process_id]
        self._processes.pop(process_id).forget()


def _short(info: ProcessInfo) -> ProcessInfo:
    left = ARGV_TOLD
    argv = []
    for word in info.argv:
        argv.append(word if len(word) <= left else f"{word[:left]}…")
        left -= len(word)
        if left <= 0:
            break
    return structs.replace(info, argv=argv)
