"""A registry of running and recently ended processes."""

import itertools
import re
from collections.abc import Iterable, Iterator

from msgspec import structs

from hawse.api.processes import ProcessInfo, ProcessListResult
from hawse_runtime.core.registry import Registry, Retention
from hawse_runtime.process.process import Process

ARGV_LISTED = 256  # maximum length of an argv in a list, in characters; the list must fit into one message


class ProcessRegistry(Registry[Process]):
    """The registry. When a process is dropped, its output is deleted, including any on disk."""

    def __init__(self, retention: Retention) -> None:
        super().__init__("process", retention=retention, on_drop=Process.forget)

    def list(
        self, after: str | None, limit: int, execs: Iterable[Process] = (), session: str | None = None
    ) -> ProcessListResult:
        """Return one page of the list: processes in the order they started, then running `exec` commands.

        Args:
            after: The id of the last process on the previous page; None for the first page. If that process no longer
                exists, the list starts over; after an `exec` command, the list continues with later commands.
            limit: The maximum number of processes per page.
            execs: The running `exec` commands, in the order they started.
            session: List only processes started by this session; None means all.
        """
        processes: Iterator[Process] = itertools.chain(self, execs)
        if after is not None and self.find(after) is not None:
            next(process for process in processes if process.id == after)
        elif after is not None and (number := _exec_number(after)):
            processes = itertools.chain(process for process in execs if _exec_number(process.id) > number)
        processes = (process for process in processes if session in (None, process.session))
        chosen = [_short(process.describe()) for process in itertools.islice(processes, limit)]
        return ProcessListResult(processes=chosen, more=next(processes, None) is not None)


def _exec_number(process_id: str) -> int:
    """Return the number in an `exec` command's id, or 0 for other ids."""
    match = re.fullmatch(r"exec-([1-9]\d*)-[0-9a-f]{8}", process_id)
    return int(match[1]) if match else 0


def _short(info: ProcessInfo) -> ProcessInfo:
    """Return `info` with its argv shortened to ARGV_LISTED characters."""
    left = ARGV_LISTED
    argv = []
    for argument in info.argv:
        argv.append(argument if len(argument) <= left else f"{argument[:left]}…")
        left -= len(argument)
        if left <= 0:
            break
    return structs.replace(info, argv=argv)
