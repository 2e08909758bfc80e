"""Whether the kernel killed a process for lack of memory, by the counter of the control group (cgroups(7)) only.

Version 2 counts kills in `memory.events`, version 1 in `memory.oom_control`. Everything we start is in our own group.
The kernel counts before it sends SIGKILL, so the count is there when the process has exited.
"""

from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


class OomCounter:
    """The kills of our control group, and how many of them we know the victims of."""

    def __init__(self, file: Path | None = None) -> None:
        """`file`: where the counter is; by default it is looked for."""
        self._file = file or find_counter()
        self._claimed = self.kills() or 0

    def kills(self) -> int | None:
        """The number of kills so far; None where the kernel has no counter."""
        if self._file is None:
            return None
        try:
            lines = self._file.read_text().splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)

    def claim(self, before: int | None) -> bool | None:
        """Whether something that SIGKILL has ended, not sent by us, was such a kill: there has been one since `before`
        that no other process has been counted for."""
        now = self.kills()
        if before is None or now is None:
            return None
        known = max(before, self._claimed)
        if now <= known:
            return False
        self._claimed = known + 1
        return True


def find_counter(root: Path = ROOT, groups: Path = Path("/proc/self/cgroup")) -> Path | None:
    """The file with the counter of our group."""
    try:
        lines = [line.split(":", 2) for line in groups.read_text().splitlines()]
    except OSError:
        return None
    for _, controllers, path in sorted(lines, reverse=True):
        if controllers == "" and (file := root / path.lstrip("/") / "memory.events").exists():
            return file
        if "memory" in controllers.split(","):
            # In a container the path may be the host's, while what is mounted begins at our own group.
            for folder in (root / "memory" / path.lstrip("/"), root / "memory"):
                if (file := folder / "memory.oom_control").exists():
                    return file
    return None
