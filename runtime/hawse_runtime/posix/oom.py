"""Detects OOM kills of processes from the counter of the control group (cgroups(7)).

Version 2 counts kills in `memory.events`, version 1 in `memory.oom_control`. All programs are in one group: either the
group whose counter the provider passed, or the runtime's own group. The kernel counts before it sends SIGKILL, so the
count is up to date when the process has exited.
"""

import os
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
COUNTER_SIZE = 4096  # bytes to read of a counter: more than its few lines


class OomCounter:
    """The number of OOM kills in the programs' control group, and how many are attributed to processes."""

    def __init__(self, file: Path | int | None = None) -> None:
        """`file`: the counter's path or descriptor; by default, the counter of the runtime's group."""
        self._file = find_counter() if file is None else file
        self._claimed = self.kills() or 0

    def kills(self) -> int | None:
        """The number of kills so far; None where the kernel has no counter."""
        if self._file is None:
            return None
        try:
            text = os.pread(self._file, COUNTER_SIZE, 0) if isinstance(self._file, int) else self._file.read_bytes()
            lines = text.decode().splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)

    def claim(self, before: int | None) -> bool | None:
        """Return whether a process was OOM-killed, if it ended by a SIGKILL that the runtime did not send.

        True if the kernel has counted a kill since `before` that is not attributed to another process.
        """
        now = self.kills()
        if before is None or now is None:
            return None
        known = max(before, self._claimed)
        if now <= known:
            return False
        self._claimed = known + 1
        return True


def find_counter(root: Path = ROOT, groups: Path = Path("/proc/self/cgroup")) -> Path | None:
    """Return the counter's path for the runtime's group."""
    try:
        lines = [line.split(":", 2) for line in groups.read_text().splitlines()]
    except OSError:
        return None
    for _, controllers, path in sorted(lines, reverse=True):
        if controllers == "" and (file := root / path.lstrip("/") / "memory.events").exists():
            return file
        if "memory" in controllers.split(","):
            # In a container, the path may be the host's, while the mounted hierarchy starts at the runtime's own group.
            for folder in (root / "memory" / path.lstrip("/"), root / "memory"):
                if (file := folder / "memory.oom_control").exists():
                    return file
    return None
