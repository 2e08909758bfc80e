"""Limits the total resources that a sandbox's programs use, with a cgroup (cgroups(7)).

The runtime itself is not in the cgroup, because it must keep running if programs exhaust a resource. With cgroups
version 1, each controller has its own hierarchy, and the runtime thread that starts programs joins the cgroup. With
version 2, each program joins the cgroup after it has started. Only root, or a user with a delegated part of the tree,
can create cgroups.
"""

import asyncio
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from hawse.api.sandboxes import SandboxLimits

ROOT: Final = Path("/sys/fs/cgroup")
OWN: Final = Path("/proc/self/cgroup")
FOLDER: Final = "hawse"  # the parent of all sandbox cgroups
PERIOD: Final = 100_000  # period of CPU limits, in µs
POLL: Final = 0.01  # seconds between attempts to remove a cgroup
PROCESSES: Final = 4096  # default limit; enough for builds and test suites, too few to harm the machine

Limited = Literal["memory", "processes", "cpus"]
CONTROLLERS: Final[Mapping[Limited, str]] = {"memory": "memory", "processes": "pids", "cpus": "cpu"}


@dataclass(frozen=True)
class Tree:
    """The part of the cgroup tree where this process can create cgroups.

    Attributes:
        version: The cgroups version.
        parents: The parent directories for new cgroups, keyed by the resource they limit.
    """

    version: Literal[1, 2]
    parents: Mapping[Limited, Path]


@dataclass(frozen=True)
class Group:
    """A sandbox's cgroup.

    Attributes:
        directories: The directories to remove afterwards.
        tasks: Descriptors of files. The thread that starts programs writes "0" to them to join the cgroup (version 1).
        processes: Descriptors of files. Each program's pid is written to them (version 2).
        limited: The limited resources.
        kills: The descriptor of the file that counts the programs killed because memory ran out. None if memory is not
            limited.
    """

    directories: tuple[Path, ...]
    tasks: tuple[int, ...]
    processes: tuple[int, ...]
    limited: tuple[Limited, ...]
    kills: int | None = None


def find(root: Path = ROOT, own: Path = OWN) -> Tree | None:
    """Return the tree where cgroups can be created, or None if they can't be created.

    Args:
        root: The directory where the hierarchies are mounted.
        own: The file listing this process's cgroups.
    """
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except OSError:
        return None
    if (root / "cgroup.controllers").exists():
        return _find_unified(root, next((path for number, _, path in lines if number == "0"), "/"))
    parents: dict[Limited, Path] = {}
    for limited, controller in CONTROLLERS.items():
        for _, names, path in lines:
            if controller in names.split(","):
                # In a container, the path can be relative to the host's root cgroup, although the mounted tree starts
                # at the container's cgroup. Both locations are therefore tried.
                places = [root / mount / path.lstrip("/") for mount in (controller, names)]
                places += [root / mount for mount in (controller, names)]
                writable = [place for place in places if os.access(place / "tasks", os.W_OK)]
                if writable:
                    parents[limited] = writable[0]
    return Tree(1, parents) if parents else None


def _find_unified(root: Path, own: str) -> Tree | None:
    """Return the top of the tree if the gateway runs as root, or else the highest cgroup delegated to its user."""
    place = root / own.lstrip("/")
    candidates = [root] if os.getuid() == 0 else [*reversed(place.parents), place]
    for candidate in candidates:
        if not candidate.is_relative_to(root):
            continue
        control = candidate / "cgroup.subtree_control"
        if os.access(control, os.W_OK) and os.access(candidate / "cgroup.procs", os.W_OK):
            available = (candidate / "cgroup.controllers").read_text().split()
            wanted: list[Limited] = [name for name, controller in CONTROLLERS.items() if controller in available]
            return Tree(2, dict.fromkeys(wanted, candidate)) if wanted else None
    return None


@contextmanager
def created(tree: Tree | None, key: str, limits: SandboxLimits, record: Path) -> Iterator[Group]:
    """Create a sandbox's cgroup. Exiting the `with` block closes its descriptors but keeps the cgroup.

    Args:
        tree: The part of the cgroup tree where the cgroup is created. If None, nothing is limited.
        key: A unique name for the cgroup.
        limits: The sandbox's limits. If `processes` is not set, a default applies.
        record: The file where the directories are recorded for `remove`.

    Raises:
        OSError: The kernel refused a limit, for example because it is too small.
    """
    if tree is None:
        yield Group((), (), (), ())
        return
    wanted: dict[Limited, float] = {"processes": limits.processes or PROCESSES}
    if limits.memory is not None:
        wanted["memory"] = limits.memory
    if limits.cpus is not None:
        wanted["cpus"] = limits.cpus
    limited = tuple(name for name in wanted if name in tree.parents)
    places = {name: tree.parents[name] / FOLDER / key for name in limited}
    directories = tuple(dict.fromkeys(places.values()))
    # Written before the directories are created, so that `remove` always finds all of them.
    record.write_text(json.dumps([str(place) for place in directories]))
    for place in directories:
        if tree.version == 2:
            _enable(place, [CONTROLLERS[name] for name in limited])
        place.mkdir(parents=True, exist_ok=True)
    for name, place in places.items():
        _limit(tree.version, name, place, wanted[name])
    file = "tasks" if tree.version == 1 else "cgroup.procs"
    fds: list[int] = []
    kills: int | None = None
    try:
        for place in directories:
            fds.append(os.open(place / file, os.O_WRONLY | os.O_CLOEXEC))
        members = tuple(fds)
        empty: tuple[int, ...] = ()
        if "memory" in places:
            counter = "memory.oom_control" if tree.version == 1 else "memory.events"
            with suppress(FileNotFoundError):
                fds.append(kills := os.open(places["memory"] / counter, os.O_RDONLY | os.O_CLOEXEC))
        tasks, processes = (members, empty) if tree.version == 1 else (empty, members)
        yield Group(directories, tasks, processes, limited, kills)
    finally:
        for fd in fds:
            os.close(fd)


def remove(record: Path) -> None:
    """Remove the cgroups created by `created`. They must not contain any processes.

    Raises:
        OSError: A cgroup still contains a process.
    """
    try:
        places = json.loads(record.read_text())
    except (OSError, ValueError):
        return
    for place in places:
        with suppress(FileNotFoundError):
            os.rmdir(place)
    record.unlink(missing_ok=True)


async def remove_when_empty(record: Path, timeout: float) -> None:
    """Remove the cgroups as soon as their last process has ended. The caller must have killed all processes.

    Args:
        record: The file passed to `created`.
        timeout: Seconds to wait for the last process to end. Then, `OSError` is raised.
    """
    deadline = time.monotonic() + timeout
    while True:
        try:
            return await asyncio.to_thread(remove, record)
        except OSError:
            if time.monotonic() >= deadline:
                raise
        await asyncio.sleep(POLL)


def _enable(place: Path, controllers: list[str]) -> None:
    """Enable controllers for the sandboxes' cgroups (version 2). The two parent cgroups contain no processes."""
    parent = place.parent
    parent.mkdir(exist_ok=True)
    for folder in (parent.parent, parent):
        (folder / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in controllers))


def _limit(version: int, name: Limited, place: Path, value: float) -> None:
    match version, name:
        case _, "processes":
            (place / "pids.max").write_text(str(int(value)))
        case 1, "memory":
            _limit_memory(place, str(int(value)))
        case 1, "cpus":
            (place / "cpu.cfs_period_us").write_text(str(PERIOD))
            (place / "cpu.cfs_quota_us").write_text(str(round(value * PERIOD)))
        case _, "memory":
            (place / "memory.max").write_text(str(int(value)))
            with suppress(FileNotFoundError):  # missing if the kernel does not account for swap
                (place / "memory.swap.max").write_text("0")
        case _:
            (place / "cpu.max").write_text(f"{round(value * PERIOD)} {PERIOD}")


def _limit_memory(place: Path, value: str) -> None:
    """Set both memory limits in version 1. The limit for memory plus swap must never be lower than the limit for memory
    alone."""
    memory, both = place / "memory.limit_in_bytes", place / "memory.memsw.limit_in_bytes"
    (place / "memory.swappiness").write_text("0")
    if not both.exists():  # missing if the kernel does not account for swap
        memory.write_text(value)
        return
    both.write_text("-1")
    memory.write_text(value)
    both.write_text(value)
