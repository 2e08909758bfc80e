"""The registry of processes: those that run, and of those that have ended the latest."""

from itertools import islice

from msgspec import structs

from hawse.api.processes import ProcessInfo, ProcessListResult
from runtime.core.registry import Registry, Retention
from runtime.process.process import Process

ARGV_LISTED = 256  # characters of an argv in a list, which has to fit into one message


class ProcessRegistry(Registry[Process]):
    """A process that is dropped loses its output, also what of it is on disk."""

    def __init__(self, retention: Retention) -> None:
        super().__init__("process", retention=retention, on_drop=Process.forget)

    def list(self, after: str | None, limit: int) -> ProcessListResult:
        """Return `limit` processes after the one with id `after`, in the order in which they were started."""
        processes = iter(self)
        if after is not None and self.find(after) is not None:
            next(process for process in processes if process.id == after)
        chosen = [_short(process.describe()) for process in islice(processes, limit)]
        return ProcessListResult(processes=chosen, more=next(processes, None) is not None)


def _short(info: ProcessInfo) -> ProcessInfo:
    left = ARGV_LISTED
    argv = []
    for word in info.argv:
        argv.append(word if len(word) <= left else f"{word[:left]}…")
        left -= len(word)
        if left <= 0:
            break
    return structs.replace(info, argv=argv)
