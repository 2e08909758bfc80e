"""The process of a local runtime. A later gateway can find it and verify that it has ended.

The kernel reuses pids. A process is therefore identified by its pid, start time and the machine's boot id.
"""

import asyncio
import os
import signal
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from hawse.link.sockets import accepts_connections, socket_address

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
STATE_FIELD, START_FIELD = 0, 19  # indexes into /proc/PID/stat after the name: fields 3 and 22 in proc(5)
DEAD: Final = "ZX"  # states of processes that have ended
POLL: Final = 0.05  # seconds between checks of a socket whose process is ending
STOPPED: Final = "Tt"  # states of processes stopped by SIGSTOP or a debugger


class RuntimeProcess(NamedTuple):
    """A process on this machine.

    Attributes:
        pid: The pid in the gateway's pid namespace.
        started: The start time, in clock ticks since boot.
        boot: The boot id.
    """

    pid: int
    started: str
    boot: str

    @classmethod
    def of_pid(cls, pid: int) -> "RuntimeProcess | None":
        """Return the process with this pid, or None."""
        stat = _stat(pid)
        return None if stat is None else cls(pid, stat[START_FIELD], BOOT_ID.read_text().strip())

    @classmethod
    def listening_on(cls, path: Path) -> "RuntimeProcess | None":
        """Return the process listening on a Unix socket (SO_PEERCRED, unix(7)), or None if it does not respond."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.setblocking(False)
            try:
                with socket_address(path) as address:
                    probe.connect(address)
                credentials = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            except OSError:
                return None
        pid: int = struct.unpack("3i", credentials)[0]
        return cls.of_pid(pid)

    @classmethod
    def load(cls, path: Path) -> "RuntimeProcess | None":
        """Read a process from a file written by `save`. Return None if the file is missing or invalid."""
        try:
            pid, started, boot = path.read_text().split()
            return cls(int(pid), started, boot)
        except (OSError, ValueError):
            return None

    def save(self, path: Path) -> None:
        """Write the process to a file, atomically, because other gateways can read it at any time. Raises `OSError`."""
        new = path.with_name(f"{path.name}.new")
        new.write_text(" ".join(map(str, self)))
        new.replace(path)

    @property
    def alive(self) -> bool:
        stat = _stat(self.pid)
        return stat is not None and stat[STATE_FIELD] not in DEAD and self == RuntimeProcess.of_pid(self.pid)

    @property
    def frozen(self) -> bool:
        """Whether the process was stopped by a signal or a debugger."""
        stat = _stat(self.pid)
        return stat is not None and stat[STATE_FIELD] in STOPPED and self.alive

    async def end(self, *, grace: float, timeout: float) -> bool:
        """End the process with SIGTERM, and if necessary with SIGKILL.

        Args:
            grace: Seconds between SIGTERM and SIGKILL.
            timeout: Seconds to wait after SIGKILL.

        Returns:
            Whether the process has ended.
        """
        try:
            pidfd = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            if not self.alive:  # the process has ended; pidfd may refer to a new process with its pid
                return True
            # A stopped process only handles SIGTERM after SIGCONT.
            return await _signal(pidfd, grace, signal.SIGTERM, signal.SIGCONT) or await _signal(
                pidfd, timeout, signal.SIGKILL
            )
        finally:
            os.close(pidfd)


async def refuses_connections(path: Path, seconds: float) -> bool:
    """Wait until no process accepts connections on a runtime's socket.

    Returns:
        Whether connections were refused within `seconds`. This can take a moment, because the sandbox's first process,
        which also holds the socket, ends after the runtime.
    """
    deadline = asyncio.get_running_loop().time() + seconds
    while accepts_connections(path):
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(POLL)
    return True


async def _signal(pidfd: int, seconds: float, *signals: signal.Signals) -> bool:
    """Send signals, and wait for the process to end. Return whether the process ended within `seconds`."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    with suppress(ProcessLookupError):
        for number in signals:
            signal.pidfd_send_signal(pidfd, number)
    loop.add_reader(pidfd, ended.set)
    try:
        async with asyncio.timeout(seconds):
            await ended.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(pidfd)
    return True


def _stat(pid: int) -> list[str] | None:
    """Return the fields in /proc/PID/stat that follow the process name, which can contain spaces."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
