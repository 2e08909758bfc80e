"""A snapshot of all processes: parents, groups, sessions, start times, and the marks in their environments (proc(5)).

Reading takes about 10 µs per process on the machine, so concurrent callers share a snapshot.
"""

import asyncio
import os
import select
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.posix.proc import list_proc, read_proc

PROCESS_MARK = "HAWSE_PROCESS"  # the variable that identifies each process started by a runtime
# The variable with the id of the runtime that started the process.
RUNTIME_MARK = "HAWSE_RUNTIME"
DESKTOP_MARK = "HAWSE_DESKTOP"  # the variable that identifies the desktop where the process was started
_MARKS = tuple(f"{name}=".encode() for name in (PROCESS_MARK, RUNTIME_MARK, DESKTOP_MARK))
_EXEC_PAUSES: Final = (0.0005, 0.001, 0.002, 0.005, 0.01)  # seconds between checks of a process in exec
_EXITING, _KERNEL_THREAD = 0x4, 0x200000  # flags of /proc/PID/stat


class Member(NamedTuple):
    """A process that was seen alive. `started`, in clock ticks, distinguishes it from later processes with the same
    pid.
    """

    pid: int
    started: int


class ProcessStat(NamedTuple):
    """Selected fields of /proc/PID/stat."""

    state: str
    parent: int
    group: int
    session: int
    started: int  # start time in clock ticks since boot


class ProcessTable:
    """All processes except this one, as they were at the time of reading."""

    def __init__(self, stats: dict[int, ProcessStat], marks: dict[int, frozenset[bytes]]) -> None:
        """Create a table. `marks` contains each marked process's marks, as `NAME=value`."""
        self._stats = stats
        self._marks = marks

    def members(self, root: int, mark: str = "", *, reaped: bool = False) -> set[Member]:
        """Return the living members of a process tree, without zombies.

        Args:
            root: The pid of the tree's leader.
            mark: The `NAME=value` in the environment that identifies members whose parents have exited; empty if there
                is no mark.
            reaped: Whether the leader has been reaped, so that another process may have its pid. The session id is
                valid unless such a process exists, because the kernel doesn't reuse the id of a session that has
                members.
        """
        stats = self._stats
        roots = self.marked(mark) if mark else set()
        sessions = {stats[pid].session for pid in roots}
        if not reaped:
            roots.add(root)
        if not reaped or root not in stats:
            sessions.add(root)
        return {
            Member(pid, stat.started)
            for pid, stat in stats.items()
            if stat.state not in "ZX" and (stat.session in sessions or self._descends(pid, roots))
        }

    def marked(self, mark: str) -> set[int]:
        """Return the pids of the processes with `mark` (`NAME=value`) in their environment, including zombies."""
        wanted = mark.encode()
        return {pid for pid, marks in self._marks.items() if wanted in marks}

    def _descends(self, pid: int, roots: set[int]) -> bool:
        for _ in self._stats:  # a bounded number of steps: pids reused while /proc was being read could form a cycle
            if pid in roots:
                return True
            if pid not in self._stats:
                return False
            pid = self._stats[pid].parent
        return False


class ProcessReader:
    """Reads process tables; its methods block. Remembers unmarked processes, to read each environment only once."""

    def __init__(self, read_marks: Callable[[int], frozenset[bytes] | None] | None = None) -> None:
        """`read_marks` returns a process's marks, or None if they are unknown; by default, it reads /proc."""
        self._read_marks = read_marks or read_marks_of
        self._unmarked: set[Member] = set()

    def read(self) -> ProcessTable:
        stats = {int(name): stat for name in list_proc() if name.isdigit() and (stat := read_stat(int(name)))}
        me = os.getpid()
        stats.pop(me, None)
        unmarked = set()
        marks = {}
        for pid, stat in stats.items():
            member = Member(pid, stat.started)
            if member in self._unmarked:
                unmarked.add(member)
            elif found := self._read_marks(pid):
                marks[pid] = found
            elif found is not None and stat.parent != me:  # before exec, a child still has the runtime's environment
                unmarked.add(member)
        self._unmarked = unmarked
        return ProcessTable(stats, marks)


class SharedProcessReader:
    """Reads process tables in a thread, one at a time. Concurrent callers share a read."""

    def __init__(self, pool: ThreadPool) -> None:
        """Create a reader. `pool` must have exactly one thread."""
        self._pool = pool
        self._reader = ProcessReader()
        self._latest: _Reading | None = None

    async def read(self) -> ProcessTable:
        """Return a table that is read entirely after this call."""
        if self._latest is None or self._latest.begun:
            self._latest = _Reading(self._reader, self._pool)
        return await asyncio.shield(
            self._latest.table
        )  # the read continues if this call is cancelled, because other callers may be waiting for it


class _Reading:
    """The result of reading the process table once."""

    def __init__(self, reader: ProcessReader, pool: ThreadPool) -> None:
        self.begun = False  # set by the thread when it starts reading
        self.table = pool.submit(lambda: self._run(reader))

    def _run(self, reader: ProcessReader) -> ProcessTable:
        self.begun = True
        return reader.read()


def alive(member: Member) -> bool:
    """Return whether the process exists and is not a zombie."""
    stat = read_stat(member.pid)
    return stat is not None and stat.started == member.started and stat.state not in "ZX"


def living(members: Iterable[Member]) -> set[Member]:
    return {member for member in members if alive(member)}


def read_stat(pid: int) -> ProcessStat | None:
    """Return the fields of /proc/PID/stat, or None if there is no such process. Raises `OSError` if the read fails."""
    try:
        fields = _stat_fields(pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return ProcessStat(fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def read_marks_of(pid: int) -> frozenset[bytes] | None:
    """Return the marks in a process's environment; none if the process has exited or belongs to another user.

    During exec(2), /proc shows no environment until the new program is loaded, so such a process is checked several
    times. Returns None, meaning unknown, if the program still isn't loaded after 20 ms.
    """
    seen = None
    try:
        for pause in _EXEC_PAUSES:
            if environ := read_proc(f"{pid}/environ"):
                return frozenset(entry for entry in environ.split(b"\0") if entry.startswith(_MARKS))
            place = _place_of_environment(pid)
            if place is None or (
                place == seen and place[0] == place[1] != 0
            ):  # a single result may have been read during execve
                return frozenset()
            seen = place
            select.select([], [], [], pause)  # time.sleep() fails under tools that change the clock
    except (FileNotFoundError, ProcessLookupError, PermissionError):  # the process has ended or belongs to another user
        return frozenset()
    return None


def _place_of_environment(pid: int) -> tuple[int, int] | None:
    """Return the start and end address of a process's environment, or None if the process will never have one.

    Raises:
        OSError: The process does not exist.
    """
    fields = _stat_fields(pid)
    if fields[0] in b"ZX" or int(fields[6]) & (_EXITING | _KERNEL_THREAD):
        return None
    return int(fields[47]), int(fields[48])


def _stat_fields(pid: int) -> list[bytes]:
    """Return the fields of /proc/PID/stat, starting with the third (`state`). Raises `OSError`."""
    return read_proc(f"{pid}/stat").rpartition(b")")[2].split()
