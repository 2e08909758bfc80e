"""Finds the process blocked in a read from a terminal, using only /proc (proc(5)).

A process reads from the terminal if one of its threads is blocked in `read` on one of this PTY's descriptors, or waits
for input on one with `poll`, `select` or `epoll`. The process must also belong to the foreground process group.
/proc/PID/task/TID/syscall contains the system call and its arguments. Reading it requires the same access as ptrace(2).
The runtime has that access to its children, because it runs as their user or owns their user namespace. Without access
(set-user-id programs, other kernels), the result is `unknown`.

Programs may be hostile: a search reads a limited number of files, and never opens or stats a program's files.
"""

import os
import struct
from collections.abc import Iterator
from itertools import islice
from typing import Final, Literal, NamedTuple

from hawse_runtime.posix.proc import list_proc, open_proc, read_link, read_proc
from hawse_runtime.posix.process_table import read_stat

FILES: Final = 512  # maximum number of /proc files read per search; that takes 10 ms, or 50 ms on a busy machine
PROCESSES: Final = 256  # maximum number of processes examined per search
DESCRIPTORS: Final = 256  # maximum number of descriptors checked per process when looking for another PTY's master side
POLLED: Final = 1024  # maximum number of descriptors in a system call's arguments
EPOLL_TEXT: Final = 64 << 10  # number of bytes read from the list of descriptors in an epoll instance
ARGV: Final = 4096  # maximum size of a command line, in bytes

_MASTERS: Final = frozenset(("/dev/ptmx", "/dev/pts/ptmx"))
_INPUT: Final = 0x1 | 0x40  # POLLIN and POLLRDNORM, with the same values for epoll
_POLLFD: Final = struct.Struct("ihh")

Call = Literal["read", "poll", "select", "epoll", "unknown"]
_X86: Final[dict[int, Call]] = {
    **{0: "read", 19: "read", 7: "poll", 271: "poll", 23: "select", 270: "select"},
    **{232: "epoll", 281: "epoll", 441: "epoll", 426: "unknown", 219: "unknown"},
}
_ARM: Final[dict[int, Call]] = {
    **{63: "read", 65: "read", 73: "poll", 72: "select", 22: "epoll", 441: "epoll", 426: "unknown", 128: "unknown"}
}
# System calls that can wait for input, keyed by their number on each architecture. Requests made with io_uring_enter
# (426) are not visible, nor is the call that restart_syscall (219, 128) continues.
CALLS: Final = {"x86_64": _X86, "aarch64": _ARM}


class Reading(NamedTuple):
    """The result of a search.

    Attributes:
        found: Whether a process in the foreground group is waiting for input from the terminal.
        pid: The waiting process; if there is none, the group's leader.
        argv: The process's command line, truncated to ARGV bytes; empty if the process has exited.
        relay: Whether the process has another PTY's master side open and thus forwards input to another program.
    """

    found: Literal["yes", "no", "unknown"]
    pid: int
    argv: list[str]
    relay: bool = False


class _Exhausted(Exception):
    """Raised when the search has read the maximum number of files."""


class _Unknown(Exception):
    """Raised when the kernel doesn't show a thread's system call."""


def find_reader(tty: str, group: int, root: int, calls: dict[int, Call] | None = None) -> Reading:
    """Search for a process waiting for input from a terminal. Blocks for several milliseconds.

    Args:
        tty: The path of the terminal's device, such as `/dev/pts/3`.
        group: The terminal's foreground process group.
        root: The terminal's program. Its descendants are searched.
        calls: System calls that wait for input, keyed by number; by default, this machine's.
    """
    if calls is None:
        calls = CALLS.get(os.uname().machine, {})
    look = _Look(tty, calls)
    found: Literal["no", "unknown"] = "no" if calls else "unknown"
    try:
        for pid in look.members(group, root):
            if look.reads(pid):
                return Reading("yes", pid, command_line(pid), look.is_relay(pid))
    except _Exhausted:
        found = "unknown"
    return Reading("unknown" if look.unknown else found, group, command_line(group))


def command_line(pid: int) -> list[str]:
    """Return a process's arguments, truncated to ARGV bytes. Empty if it has exited or has no arguments."""
    try:
        fd = open_proc(f"{pid}/cmdline")
    except OSError:
        return []
    try:
        data = os.read(fd, ARGV)
    except OSError:
        return []
    finally:
        os.close(fd)
    return [part.decode(errors="replace") for part in data.removesuffix(b"\0").split(b"\0")] if data else []


class _Look:
    """A single search. `unknown` is set if any thread couldn't be examined."""

    def __init__(self, tty: str, calls: dict[int, Call]) -> None:
        self.unknown = False
        self._ttys = {tty, "/dev/tty"}  # /dev/tty is the controlling terminal, which all members of the group share
        self._calls = calls
        self._left = FILES

    def members(self, group: int, root: int) -> Iterator[int]:
        """Yield the group's processes: its leader, then other descendants of `root`. Raises `_Exhausted`."""
        seen = {group, root}
        waiting = [group, root] if group != root else [group]
        for pid in waiting:  # the list grows during the iteration
            self._take()
            stat = read_stat(pid)
            if stat is None or stat.state in "ZX":
                continue
            if stat.group == group:
                yield pid
            for child in self._children(pid):
                if child not in seen:
                    if len(seen) >= PROCESSES:
                        raise _Exhausted
                    seen.add(child)
                    waiting.append(child)

    def reads(self, pid: int) -> bool:
        """Return whether any of the process's threads is waiting for input. Raises `_Exhausted`."""
        for thread in self._threads(pid):
            try:
                if self._thread_reads(pid, thread):
                    return True
            except (FileNotFoundError, ProcessLookupError):
                # Either the thread has exited, or the kernel doesn't provide the file.
                self.unknown = self.unknown or _exists(f"{pid}/task/{thread}")
            except (OSError, _Unknown, ValueError):
                self.unknown = True
        return False

    def is_relay(self, pid: int) -> bool:
        """Return whether the process has a PTY's master side open, as `script`, tmux and sudo do."""
        try:
            fd = open_proc(f"{pid}/fd", os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return False
        try:
            with os.scandir(fd) as entries:
                return any(self._target(pid, entry.name) in _MASTERS for entry in islice(entries, DESCRIPTORS))
        except (OSError, _Exhausted):
            return False
        finally:
            os.close(fd)

    def _take(self) -> None:
        if self._left <= 0:
            raise _Exhausted
        self._left -= 1

    def _threads(self, pid: int) -> list[str]:
        self._take()
        try:
            return list_proc(f"{pid}/task")
        except OSError:
            return []

    def _children(self, pid: int) -> Iterator[int]:
        for thread in self._threads(pid):
            self._take()
            try:
                text = read_proc(f"{pid}/task/{thread}/children")
            except OSError:
                continue
            yield from map(int, text.split())

    def _thread_reads(self, pid: int, thread: str) -> bool:
        self._take()
        fields = read_proc(f"{pid}/task/{thread}/syscall").split()
        if not fields or fields[0] in (b"running", b"-1"):
            return False
        call = self._calls.get(int(fields[0]))
        if call is None:
            return False
        if call == "unknown":
            raise _Unknown
        first, second = int(fields[1], 16), int(fields[2], 16)
        match call:
            case "read":
                return self._is_tty(pid, first & 0xFFFFFFFF)
            case "epoll":
                return self._any_tty(pid, self._in_epoll(pid, first & 0xFFFFFFFF))
            case "poll":
                return self._any_tty(pid, self._polled(pid, first, second))
            case _:
                return self._any_tty(pid, self._selected(pid, first & 0xFFFFFFFF, second))

    def _any_tty(self, pid: int, fds: list[int]) -> bool:
        return any(self._is_tty(pid, fd) for fd in fds)

    def _is_tty(self, pid: int, fd: int) -> bool:
        return self._target(pid, str(fd)) in self._ttys

    def _target(self, pid: int, fd: str) -> str:
        """Return an open file's path, for comparison only: a stat could block on the program's file system."""
        self._take()
        try:
            return read_link(f"{pid}/fd/{fd}")
        except FileNotFoundError:
            return ""

    def _polled(self, pid: int, address: int, count: int) -> list[int]:
        """Return the descriptors that wait for input in an array of `pollfd`."""
        if count > POLLED:
            raise _Unknown
        data = self._memory(pid, address, count * _POLLFD.size)
        return [fd for fd, events, _ in _POLLFD.iter_unpack(data) if fd >= 0 and events & _INPUT]

    def _selected(self, pid: int, count: int, address: int) -> list[int]:
        """Return the descriptors in select(2)'s first set."""
        if not address:
            return []
        if count > POLLED:
            raise _Unknown
        bits = int.from_bytes(self._memory(pid, address, (count + 7) // 8), "little")
        return [fd for fd in range(count) if bits >> fd & 1]

    def _in_epoll(self, pid: int, fd: int) -> list[int]:
        """Return the descriptors that wait for input in an epoll instance."""
        self._take()
        epoll = open_proc(f"{pid}/fdinfo/{fd}")
        try:
            text = b""
            while len(text) < EPOLL_TEXT and (part := os.read(epoll, EPOLL_TEXT - len(text))):
                text += part
        finally:
            os.close(epoll)
        if len(text) >= EPOLL_TEXT:
            raise _Unknown
        fields = [line.split() for line in text.splitlines() if line.startswith(b"tfd:")]
        return [int(field[1]) for field in fields if int(field[3], 16) & _INPUT]

    def _memory(self, pid: int, address: int, size: int) -> bytes:
        self._take()
        fd = open_proc(f"{pid}/mem")
        try:
            data = os.pread(fd, size, address)
        finally:
            os.close(fd)
        if len(data) < size:
            raise _Unknown
        return data


def _exists(path: str) -> bool:
    try:
        list_proc(path)
    except OSError:
        return False
    return True
