"""The boundary of a root: paths inside it open, paths that leave it do not, also while directories are moved."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.files.rooted_path import PathResolver, RootedPath, open_beneath, open_plain
from hawse_runtime.posix.environment import Environment

Open = Callable[[int, str, int], int]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A root with good and bad ways in it, and a secret beside it."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/f").write_text("secret")
    root = tmp_path / "root"
    (root / "d/e").mkdir(parents=True)
    (root / "d/f").write_text("inside")
    (root / "down").symlink_to("d")
    (root / "up").symlink_to("../outside")
    (root / "absolute").symlink_to(tmp_path / "secret")
    (root / "sneaky").symlink_to("d/../../secret")
    (root / "loop").symlink_to("loop")
    (root / "proc").symlink_to("/proc/self/root")
    return root


@contextmanager
def opened(path: Path) -> Iterator[int]:
    fd = os.open(path, os.O_PATH)
    try:
        yield fd
    finally:
        os.close(fd)


def content(fd: int) -> bytes:
    try:
        return os.read(fd, 100)
    finally:
        os.close(fd)


@pytest.mark.parametrize("open_", [open_beneath, open_plain])
@pytest.mark.parametrize("path", ["up/f", "absolute", "sneaky", "../secret", "d/../../secret", "proc/etc/passwd", "up"])
def test_a_path_that_leaves_the_root_is_refused(tree: Path, open_: Open, path: str) -> None:
    with opened(tree) as root, pytest.raises(HawseError) as caught:
        open_(root, path, os.O_RDONLY)
    assert caught.value.code == "permission_denied"


@pytest.mark.parametrize("open_", [open_beneath, open_plain])
def test_a_path_under_the_root_is_opened(tree: Path, open_: Open) -> None:
    with opened(tree) as root:
        assert content(open_(root, "d/f", os.O_RDONLY)) == b"inside"
        os.close(open_(root, ".", os.O_PATH | os.O_DIRECTORY))
        os.close(open_(root, "up", os.O_PATH | os.O_NOFOLLOW))  # the symlink itself
        os.close(open_(root, "d/new", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        with pytest.raises(FileNotFoundError):
            open_(root, "d/none", os.O_RDONLY)
        with pytest.raises(NotADirectoryError):
            open_(root, "d/f/g", os.O_RDONLY)


def test_a_symlink_within_is_followed_where_the_kernel_helps(tree: Path) -> None:
    with opened(tree) as root:
        assert content(open_beneath(root, "down/f", os.O_RDONLY)) == b"inside"
        with pytest.raises(OSError, match="Too many levels"):
            open_beneath(root, "loop", os.O_RDONLY)
        with pytest.raises(HawseError, match="symlink"):
            open_plain(root, "down/f", os.O_RDONLY)


@pytest.mark.parametrize("open_", [open_beneath, open_plain])
def test_a_directory_replaced_by_a_symlink_meanwhile_does_not_lead_outside(tree: Path, open_: Open) -> None:
    """The way in is now a directory, now a symlink to the outside, as fast as that can be done."""
    stop = threading.Event()
    (tree / "way").mkdir()
    (tree / "way/f").write_text("inside")
    (tree / "way2").symlink_to("../outside")

    def swap() -> None:
        while not stop.is_set():
            os.rename(tree / "way", tree / "away")
            os.rename(tree / "way2", tree / "way")
            os.rename(tree / "way", tree / "way2")
            os.rename(tree / "away", tree / "way")

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen = set[bytes]()
    try:
        with opened(tree) as root:
            tries = 0
            while tries < 3000 or (not seen and tries < 1_000_000):
                tries += 1
                with suppress(HawseError, OSError):
                    seen.add(content(open_(root, "way/f", os.O_RDONLY)))
    finally:
        stop.set()
        swapper.join()
    assert seen == {b"inside"}


def test_roots_lie_within_roots(tree: Path) -> None:
    resolver = PathResolver(Environment(tree), str(tree))
    assert content(resolver.place("f", "d").open(os.O_RDONLY)) == b"inside"
    assert content(resolver.place("d/f").open(os.O_RDONLY)) == b"inside"
    for path, root in (("../f", "d"), ("f", "../outside"), ("f", str(tree.parent)), ("../secret", None), ("/", None)):
        with pytest.raises(HawseError, match="leaves"):
            resolver.place(path, root)
    with pytest.raises(HawseError, match="leaves"):
        resolver.place("f", "up").open(os.O_RDONLY)


def test_without_a_root_everything_opens(tree: Path) -> None:
    assert content(PathResolver(Environment(tree)).place("up/f").open(os.O_RDONLY)) == b"secret"


def test_a_parent_is_opened_and_the_root_has_no_parent(tree: Path) -> None:
    with RootedPath(str(tree / "d/f"), (str(tree),)).parent() as (fd, name):
        assert os.stat(name, dir_fd=fd).st_size == 6
    for path in (str(tree), "/"):
        with pytest.raises(HawseError, match="replaced"), RootedPath(path, (str(tree),)).parent():
            pass
    with pytest.raises(HawseError, match="leaves"), RootedPath(str(tree / "up/f"), (str(tree),)).parent():
        pass
