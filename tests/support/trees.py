"""Random trees with odd names, and the result of a plain walk, with which listings and copies are compared."""

import os
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
    """Make the tree in a new directory."""
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
    """Walk `folder`; return the type and mode, and the content or the target, by path."""
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
