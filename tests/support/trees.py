"""Random trees with odd names, and a simple walk as the reference for listings and copies."""

import os
import random
import stat
from collections.abc import Generator
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

_bytes = st.sampled_from([b"a", b"b", b".", b"-", b" ", b"\n", b"*", b"'", b"\xff", b"\xc3\xa9", b"\x01", b"\\", b"%"])
names = st.lists(_bytes, min_size=1, max_size=6).map(b"".join).filter(lambda name: name not in (b".", b".."))
leaves = st.one_of(st.binary(max_size=40), st.tuples(st.just("link"), names), st.just("fifo"))
trees = st.recursive(
    st.dictionaries(names, leaves, max_size=4),
    lambda inner: st.dictionaries(names, st.one_of(leaves, inner), max_size=4),
    max_leaves=12,
)


def plant(folder: Path, tree: dict[bytes, Any]) -> None:
    """Create the tree in a new directory."""
    _plant(os.fsencode(folder), tree)


def _plant(folder: bytes, tree: dict[bytes, Any]) -> None:
    os.mkdir(folder)
    for name, what in tree.items():
        path = os.path.join(folder, name)
        match what:
            case bytes():
                with open(path, "wb") as file:
                    file.write(what)
                os.chmod(path, 0o600 + len(what) % 0o200)
            case ("link", target):
                os.symlink(target, path)
            case "fifo":
                os.mkfifo(path)
            case dict():
                _plant(path, what)


def seen(folder: Path) -> dict[bytes, tuple[Any, ...]]:
    """Walk `folder`; return type, mode, and content or link target, by path."""
    top = os.fsencode(folder)
    found: dict[bytes, tuple[Any, ...]] = {}
    for base, folders, files in os.walk(top):
        for name in folders + files:
            path = os.path.join(base, name)
            status = os.lstat(path)
            content: Any = None
            if stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    content = file.read()
            elif stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            found[os.path.relpath(path, top)] = (status.st_mode, content)
    return found


def finished(work: Generator[Any, None, Any]) -> Any:
    """Run all steps of a generator; return its result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def plant_any(folder: bytes, chance: random.Random, depth: int = 0) -> None:
    """Create a random tree with everything that `cp -a` keeps: odd names, modes, times, holes, links, FIFOs,
    sockets.
    """
    os.mkdir(folder)
    for _ in range(chance.randrange(1, 7)):
        path = os.path.join(folder, _any_name(chance))
        if os.path.lexists(path) or len(path) > 3500:
            continue
        match chance.choice(["file", "file", "empty", "holes", "link", "fifo", "socket", "folder", "folder"]):
            case "file":
                Path(os.fsdecode(path)).write_bytes(chance.randbytes(chance.choice([1, 4096, 70_000, 5 << 20])))
            case "empty":
                Path(os.fsdecode(path)).touch()
            case "holes":
                with open(path, "wb") as file:
                    file.truncate(6 << 20)
                    file.seek(chance.randrange(6 << 20))
                    file.write(b"x" * 9000)
            case "link":
                os.symlink(chance.choice([b"/nowhere/", b"../", b""]) + _any_name(chance), path)
            case "fifo":
                os.mkfifo(path)
            case "socket":
                os.mknod(path, stat.S_IFSOCK | 0o600)
            case "folder":
                if depth < 3:
                    plant_any(path, chance, depth + 1)
                continue
        if not os.path.islink(path):
            os.chmod(path, chance.choice([0o600, 0o644, 0o755, 0o400, 0o777, 0o640]))
        os.utime(path, ns=(0, chance.randrange(-(10**17), 4 * 10**18)), follow_symlinks=False)
    os.chmod(folder, chance.choice([0o700, 0o755, 0o500, 0o750, 0o777, 0o1777]))
    os.utime(folder, ns=(0, chance.randrange(2 * 10**18)))


def _any_name(chance: random.Random) -> bytes:
    pool = chance.choice([bytes(set(range(1, 256)) - {ord("/")}), "漢字é".encode(), b"ab. *'\n-"])
    name = bytes(chance.choices(pool, k=chance.choice([1, 2, 3, 20, 218, 254, 255])))
    return _any_name(chance) if name in (b".", b"..") else name


def kept(folder: Path) -> dict[bytes, tuple[Any, ...]]:
    """Return the properties that a copy keeps, by path: mode, time, content or link target, and holes."""
    top = os.fsencode(folder)
    found: dict[bytes, tuple[Any, ...]] = {}
    for base, folders, files in os.walk(top):
        for path in [base, *(os.path.join(base, name) for name in folders + files)]:
            status = os.lstat(path)
            content: Any = None
            if stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    content = file.read()
            elif stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            elif not stat.S_ISDIR(status.st_mode):
                continue
            holes = stat.S_ISREG(status.st_mode) and status.st_blocks * 512 < status.st_size
            found[os.path.relpath(path, top)] = (status.st_mode, status.st_mtime_ns, content, holes)
    return found


def special(folder: Path) -> int:
    """Return the number of FIFOs and sockets below a directory."""
    paths = (os.path.join(base, name) for base, _, files in os.walk(os.fsencode(folder)) for name in files)
    modes = [os.lstat(path).st_mode for path in paths]
    return sum(stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) for mode in modes)
