"""Detects OOM kills from the control group's counter (cgroups(7)).

Version 2 counts kills in `memory.events`, version 1 in `memory.oom_control`. All programs are in one control group: the
one whose counter the provider passed, or the runtime's own. The kernel increments the counter before it sends SIGKILL,
so the counter is up to date once the process has exited.
"""

import os
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
COUNTER_SIZE = 4096  # maximum number of bytes to read from the counter's file, which has only a few lines


class OomCounter:
    """Counts OOM kills in the programs' control group and attributes each one to a process."""

    def __init__(self, file: Path | int | None = None) -> None:
        """`file` is the counter's path or descriptor; by default, the counter for the runtime's group is used."""
        self._file = find_counter() if file is None else file
        self._claimed = self.kills() or 0

    def kills(self) -> int | None:
        """The number of kills so far, or None if the kernel has no counter."""
        if self._file is None:
            return None
        try:
            text = os.pread(self._file, COUNTER_SIZE, 0) if isinstance(self._file, int) else self._file.read_bytes()
            lines = text.decode().splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)

    def claim(self, before: int | None) -> bool | None:
        """Return whether a process that died from a SIGKILL not sent by the runtime was OOM-killed; None if unknown.

        True if, since `before`, the kernel has counted a kill that hasn't been attributed to another process.
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
    """Return the path of the counter for the runtime's group, or None if there isn't one."""
    try:
        lines = [line.split(":", 2) for line in groups.read_text().splitlines()]
    except OSError:
        return None
    for _, controllers, path in sorted(lines, reverse=True):
        if controllers == "" and (file := root / path.lstrip("/") / "memory.events").exists():
            return file
        if "memory" in controllers.split(","):
            # In a container, `path` may be the path on the host, although the mounted hierarchy starts at the
            # container's group. The root is therefore tried as well.
            for folder in (root / "memory" / path.lstrip("/"), root / "memory"):
                if (file := folder / "memory.oom_control").exists():
                    return file
    return None
