"""A directory that was packed and unpacked is the same, and one that cannot be unpacked stays as it is."""

import gzip
import hashlib
import io
import os
import stat
import tarfile
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from hawse.api.backups import BackupPack, BackupRestoreResult, BackupUnpack
from hawse.wire import HawseError
from hawse_runtime.backup.pack import pack
from hawse_runtime.backup.unpack import parts, unpack
from hawse_runtime.files.quota import Quota
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.posix.mount_points import MountPoint
from tests.support.runtime import no_fd_leaked
from tests.support.trees import finished, plant, seen, trees


def packed(source: Path, archive: Path, compression: Any = "none") -> str:
    """Pack into a file; return its digest."""
    work = pack(RootedPath(str(source)), BackupPack(compression=compression))
    with archive.open("wb") as file:
        while True:
            try:
                item = next(work)
            except StopIteration as end:
                digest: str = end.value.sha256
                return digest
            if isinstance(item, bytes):
                file.write(item)


def unpacked(
    archive: Path, target: Path, sha256: str | None = None, *, quota: int | None = None, in_place: bool = False
) -> BackupRestoreResult:
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest() if sha256 is None else sha256
    params = BackupUnpack(archive="x", sha256=sha256)
    limit = Quota(str(target.parent), quota)
    result: BackupRestoreResult = finished(
        unpack(RootedPath(str(archive)), RootedPath(str(target)), params, limit, in_place=in_place)
    )
    return result


@given(trees)
@settings(deadline=None, max_examples=30)
def test_every_tree_is_the_same_afterwards(tree: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, no_fd_leaked():
        source, archive, target = (Path(folder, name) for name in ("s", "a", "t"))
        plant(source, tree)
        digest = packed(source, archive, None)
        plant(target, {b"old": b"x", b"sub": {b"old": b"x"}})
        unpacked(archive, target, digest)
        assert seen(target) == seen(source)
        assert sorted(os.listdir(folder)) == ["a", "s", "t"]


def test_everything_of_an_entry_is_kept(tmp_path: Path) -> None:
    source, target = tmp_path / "s", tmp_path / "t"
    source.mkdir()
    first = source / os.fsdecode(b"caf\xe9 \n")
    first.write_bytes(b"content")
    os.setxattr(first, "user.any", b"\xff\0\n=")
    os.link(first, source / "link")
    (source / "soft").symlink_to("/nowhere/at all")
    os.mkfifo(source / "fifo", 0o620)
    closed = source / "closed"
    closed.mkdir()
    (closed / "f").write_bytes(b"x")
    os.setxattr(closed, "user.dir", "é".encode())
    os.chmod(first, 0o4751)
    os.chmod(closed, 0o555)
    for path, time in ((first, 10**18 + 1), (closed, 10**17), (source, 123_456_789)):
        os.utime(path, ns=(0, time))
    os.utime(source / "soft", ns=(0, 7), follow_symlinks=False)
    result = unpacked_again(source, tmp_path, target)
    again = target / first.name
    assert (result.entries, result.bytes, result.skipped) == (7, 8, 0)
    assert (again.read_bytes(), os.getxattr(again, "user.any")) == (b"content", b"\xff\0\n=")
    assert again.samefile(target / "link")
    for name in (first.name, "closed", "fifo", "soft"):
        before, after = os.lstat(source / name), os.lstat(target / name)
        assert (before.st_mode, before.st_mtime_ns) == (after.st_mode, after.st_mtime_ns)
        assert (before.st_uid, before.st_gid) == (after.st_uid, after.st_gid)
    assert os.readlink(target / "soft") == "/nowhere/at all"
    assert os.getxattr(target / "closed", "user.dir") == "é".encode()
    assert target.stat().st_mtime_ns == 123_456_789


def unpacked_again(source: Path, folder: Path, target: Path) -> BackupRestoreResult:
    return unpacked(folder / "a", target, packed(source, folder / "a", "gzip"))


def test_holes_stay_holes(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    with (tmp_path / "s/f").open("wb") as file:
        file.truncate(1 << 34)
        for at in (0, 1 << 30, (1 << 34) - 1):
            os.pwrite(file.fileno(), b"x", at)
    with (tmp_path / "s/empty").open("wb") as file:
        file.truncate(1 << 33)
    unpacked_again(tmp_path / "s", tmp_path, tmp_path / "t")
    status = (tmp_path / "t/f").stat()
    assert (status.st_size, status.st_blocks < 1000) == (1 << 34, True)
    assert (tmp_path / "t/empty").stat().st_size == 1 << 33
    with (tmp_path / "t/f").open("rb") as file:
        assert os.pread(file.fileno(), 3, (1 << 30) - 1) == b"\0x\0"
        assert os.pread(file.fileno(), 3, (1 << 34) - 2) == b"\0x"


def test_a_workspace_is_restored_in_place_around_the_archive(tmp_path: Path) -> None:
    work = tmp_path / "w"
    plant(work, {b"a": b"1", b"sub": {b"b": b"2"}})
    digest = packed(work, tmp_path / "archive")
    (work / "a").write_text("changed")
    (work / "new").write_text("x")
    inside = work / ".hawse-restore-0123456789abcdef"
    inside.write_bytes((tmp_path / "archive").read_bytes())
    inode = work.stat().st_ino
    unpacked(inside, work, digest, in_place=True)
    assert sorted(os.listdir(work)) == [inside.name, "a", "sub"]
    assert ((work / "a").read_text(), work.stat().st_ino) == ("1", inode)


def test_another_digest_changes_nothing(tmp_path: Path) -> None:
    plant(tmp_path / "t", {b"a": b"1"})
    packed(tmp_path / "t", tmp_path / "a")
    with no_fd_leaked(), pytest.raises(HawseError, match="io_error"):
        unpacked(tmp_path / "a", tmp_path / "t", "0" * 64)
    assert sorted(os.listdir(tmp_path)) == ["a", "t"]


def test_a_quota_that_is_used_up_changes_nothing(tmp_path: Path) -> None:
    plant(tmp_path / "t", {b"a": b"1" * 5000})
    digest = packed(tmp_path / "t", tmp_path / "a")
    before = seen(tmp_path)
    with no_fd_leaked(), pytest.raises(HawseError, match="no_space"):
        unpacked(tmp_path / "a", tmp_path / "t", digest, quota=15_000)
    assert seen(tmp_path) == before


def test_a_disk_that_is_full_changes_nothing(tmp_path: Path) -> None:
    """As the kernel reports it for a file that may not be larger."""
    import resource

    plant(tmp_path / "t", {b"a": b"1" * 50_000})
    digest = packed(tmp_path / "t", tmp_path / "a")
    before = seen(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with no_fd_leaked(), pytest.raises(OSError, match="File too large"):
            unpacked(tmp_path / "a", tmp_path / "t", digest)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert seen(tmp_path) == before


def test_a_restore_that_is_given_up_changes_nothing(tmp_path: Path) -> None:
    plant(tmp_path / "s", {b"%d" % n: os.urandom(600_000) for n in range(4)})
    digest = packed(tmp_path / "s", tmp_path / "a")
    plant(tmp_path / "t", {b"old": b"x"})
    before = seen(tmp_path)
    params = BackupUnpack(archive="x", sha256=digest)
    steps = 0
    while True:
        with no_fd_leaked():
            work = unpack(
                RootedPath(str(tmp_path / "a")), RootedPath(str(tmp_path / "t")), params, Quota(str(tmp_path))
            )
            try:
                for _ in range(steps):
                    next(work)
            except StopIteration:
                break
            work.close()
        assert seen(tmp_path) == before
        steps += 1
    assert (tmp_path / "t/0").exists()


def member(name: str, **fields: Any) -> bytes:
    """An archive with one entry."""
    info = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.addfile(info)
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        member("../f"),
        member("/etc/f"),
        member("f", type=tarfile.CHRTYPE, devmajor=1, devminor=3),
        member("f", type=tarfile.LNKTYPE, linkname="../../etc/passwd"),
        member("."),
        b"no archive" * 100,
        b"\x1f\x8b\x08",
    ],
)
def test_an_archive_of_others_reaches_nothing_outside(tmp_path: Path, content: bytes) -> None:
    plant(tmp_path / "t", {b"old": b"x"})
    (tmp_path / "a").write_bytes(content)
    before = seen(tmp_path)
    with no_fd_leaked(), pytest.raises(HawseError, match="invalid_params"):
        unpacked(tmp_path / "a", tmp_path / "t")
    assert seen(tmp_path) == before


def test_a_symlink_of_the_archive_is_not_followed_outside(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        link = tarfile.TarInfo("out")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        tar.addfile(link)
        tar.addfile(tarfile.TarInfo("out/f"))
    (tmp_path / "a").write_bytes(out.getvalue())
    with no_fd_leaked(), pytest.raises(HawseError, match="permission_denied"):
        unpacked(tmp_path / "a", tmp_path / "t")
    assert os.listdir(tmp_path) == ["a"]


def sparse(numbers: bytes, *, size: int = 1 << 20) -> bytes:
    """An archive with one file whose map of holes (PAX 1.0) are the numbers."""
    head = numbers + bytes(-len(numbers) % tarfile.BLOCKSIZE)
    info = tarfile.TarInfo("GNUSparseFile.0/f")
    info.size = len(head) + 10
    info.pax_headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": "f",
        "GNU.sparse.realsize": str(size),
    }
    return info.tobuf(tarfile.PAX_FORMAT) + head + bytes(10 + -(10 + len(head)) % 512) + bytes(1024)


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        (b"100000000\n" + b"0\n" * (8 << 20), "too_large"),  # 300 KB with gzip
        (b"2\n500\n5\n0\n5\n", "invalid_params"),  # not in order
        (b"1\n-5\n5\n", "invalid_params"),
        (b"1\n5\n-5\n", "invalid_params"),
        (b"1\n%d\n10\n" % (1 << 40), "invalid_params"),  # behind its end
    ],
    ids=["a bomb", "unordered", "negative", "negative length", "behind the end"],
)
def test_a_map_of_holes_is_bounded_and_checked(tmp_path: Path, numbers: bytes, code: str) -> None:
    plant(tmp_path / "t", {b"old": b"x"})
    (tmp_path / "a").write_bytes(gzip.compress(sparse(numbers), 1))
    before = seen(tmp_path)
    tracemalloc.start()
    try:
        with no_fd_leaked(), pytest.raises(HawseError, match=code):
            unpacked(tmp_path / "a", tmp_path / "t")
        assert tracemalloc.get_traced_memory()[1] < 48 << 20
    finally:
        tracemalloc.stop()
    assert seen(tmp_path) == before


def test_names_are_split() -> None:
    assert parts("./a//b/") == ("a", "b")
    assert parts(".") == ()
    assert stat.S_ISDIR(os.stat(".").st_mode)


def test_a_bucket_below_is_not_packed_and_nothing_is_replaced_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replaced files are deleted, which would include the bucket's objects."""
    plant(tmp_path / "s", {b"f": b"own", b"data": {b"object": b"of the bucket"}})
    for module in ("pack", "unpack"):
        monkeypatch.setattr(
            f"hawse_runtime.backup.{module}.mount_points_below", lambda fd: [MountPoint(("data",), "fuse.rclone")]
        )
    sha256 = packed(tmp_path / "s", tmp_path / "archive")
    with tarfile.open(tmp_path / "archive") as archive:
        assert archive.getnames() == [".", "f"]
    before = seen(tmp_path / "s")
    with pytest.raises(HawseError, match="data is a mount") as refused:
        unpacked(tmp_path / "archive", tmp_path / "s", sha256)
    assert refused.value.code == "conflict"
    assert seen(tmp_path / "s") == before
