"""Images are built once, from verified archives, and stay as long as something needs them."""

import asyncio
import fcntl
import hashlib
import io
import os
import subprocess
import tarfile
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from hawse.api.backups import BackupInfo, BackupProgress
from hawse.wire import HawseError
from hawse_gateway.backups.images import BackupImages
from hawse_gateway.providers.isolation import host_user
from tests.support.gateway import eventually

FILE = 100_000  # bytes in each archive, which no compression makes smaller


class Images:
    """Images of archives in memory."""

    def __init__(
        self,
        folder: Path,
        *,
        size: int = 1 << 30,
        keep_free: int = 0,
        user_of: Callable[[str], int] = host_user.of_process,
    ) -> None:
        self.root = folder / "images"
        self.archives: dict[str, bytes] = {}
        self.reads: list[str] = []
        self.mounted: set[str] = set()
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.progress: list[BackupProgress] = []
        self.deleted_by_another: str | None = None
        self.images = BackupImages(
            self.root, self._read, self._mounted, size=size, keep_free=keep_free, user_of=user_of
        )

    async def _read(self, id: str) -> AsyncGenerator[bytes, None]:
        self.reads.append(id)
        yield self.archives[id][:1000]
        await self.go_on.wait()
        yield self.archives[id][1000:]

    async def _mounted(self) -> set[str]:
        if self.deleted_by_another is not None:
            (self.root / self.deleted_by_another).unlink()
            self.deleted_by_another = None
        return self.mounted

    @property
    def names(self) -> list[str]:
        return sorted(os.listdir(self.root)) if self.root.exists() else []

    def backup(self, id: str) -> BackupInfo:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            file = tarfile.TarInfo("f")
            file.size = FILE
            archive.addfile(file, io.BytesIO(os.urandom(FILE)))
        self.archives[id] = out.getvalue()
        return BackupInfo(id=id, sandbox="s", path=".", sha256=hashlib.sha256(out.getvalue()).hexdigest())

    async def use(self, info: BackupInfo, user: str = "ann") -> None:
        async with self.images.held(info, user, self.progress.append, lambda: None):
            assert (self.root / info.id).is_file()


def sparse_files(folder: Path, count: int, size: int) -> bytes:
    """Return an archive of files that have nothing but a hole."""
    folder.mkdir()
    for number in range(count):
        with (folder / str(number)).open("wb") as file:
            file.truncate(size)
    command = ["tar", "--sparse", "--format=pax", "-C", str(folder), "-c", "."]
    return subprocess.run(command, capture_output=True, check=True, timeout=60).stdout


def opened() -> list[str]:
    """The files that this process has open, also those that are deleted."""
    found = []
    for fd in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # of this directory
            found.append(os.readlink(f"/proc/self/fd/{fd}"))
    return found


async def test_an_image_requested_twice_at_once_is_built_once(tmp_path: Path) -> None:
    made = Images(tmp_path)
    info = made.backup("a")
    await asyncio.gather(made.use(info), made.use(info))
    await made.use(info)
    assert (made.reads, made.names) == (["a"], ["a"])
    assert {one.phase for one in made.progress} == {"converting"}
    status = (made.root / "a").stat()
    assert (status.st_mode & 0o777, status.st_uid) == (0o444, os.getuid())


async def test_one_user_does_not_keep_another_one_waiting(tmp_path: Path) -> None:
    made = Images(tmp_path)
    made.go_on.clear()
    async with asyncio.TaskGroup() as tasks:
        for name in "abc":
            tasks.create_task(made.use(made.backup(name), "ann"))
        await eventually(lambda: made.reads == ["a"])
        other = tasks.create_task(made.use(made.backup("x"), "bob"))
        await eventually(lambda: made.reads == ["a", "x"])
        made.go_on.set()
        await other
    assert made.names == ["a", "b", "c", "x"]


async def test_an_image_that_another_user_waits_for_is_not_built_twice(tmp_path: Path) -> None:
    made = Images(tmp_path)
    made.go_on.clear()
    info = made.backup("a")
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(made.use(info, "ann"))
        tasks.create_task(made.use(info, "bob"))
        await eventually(lambda: made.reads == ["a"])
        made.go_on.set()
    assert (made.reads, made.names) == (["a"], ["a"])


async def test_an_archive_of_huge_sparse_files_is_refused_at_once(tmp_path: Path) -> None:
    made = Images(tmp_path)
    archive = made.archives["bomb"] = sparse_files(tmp_path / "tree", 50, 1 << 40)
    info = BackupInfo(id="bomb", sandbox="s", path=".", sha256=hashlib.sha256(archive).hexdigest())
    with pytest.raises(HawseError, match="holes in its files: use the mode `copy`") as raised:
        await made.use(info)
    assert raised.value.code == "limit_exceeded"
    assert made.names == []


async def test_the_least_recently_used_image_makes_room(tmp_path: Path) -> None:
    made = Images(tmp_path, size=5 * FILE // 2)
    a, b, c, d = map(made.backup, "abcd")
    await made.use(a)
    await made.use(b)
    os.utime(made.root / "b", (1, 1))
    await made.use(c)
    assert made.names == ["a", "c"]
    made.mounted = {"a"}
    async with made.images.held(c, "ann", made.progress.append, lambda: None):
        with pytest.raises(HawseError, match="images for overlays would exceed") as raised:
            await made.use(d)
    assert raised.value.code == "limit_exceeded"
    assert made.names == ["a", "c"]
    await made.use(d)
    assert made.names == ["a", "d"]


async def test_an_image_deleted_at_once_by_another_gateway_is_built_again(tmp_path: Path) -> None:
    made = Images(tmp_path, size=3 * FILE // 2)
    a, b = map(made.backup, "ab")
    await made.use(a)
    made.deleted_by_another = "b"  # while others are deleted to make room for it
    await made.use(b)
    assert (made.reads, made.names) == (["a", "b", "b"], ["b"])


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser gives the file to another user")
async def test_a_user_that_cannot_have_the_file_leaves_nothing(tmp_path: Path) -> None:
    made = Images(tmp_path, user_of=lambda _: 1 << 40)
    info = made.backup("a")
    for _ in range(2):
        with pytest.raises(OverflowError):
            await made.use(info)
    assert made.names == []
    assert not [file for file in opened() if file.startswith(str(tmp_path))]


async def test_a_single_image_has_the_same_bound(tmp_path: Path) -> None:
    made = Images(tmp_path, size=FILE // 2)
    with pytest.raises(HawseError) as raised:
        await made.use(made.backup("a"))
    assert raised.value.code == "limit_exceeded"
    assert made.names == []


async def test_the_disk_keeps_room(tmp_path: Path) -> None:
    made = Images(tmp_path, keep_free=1 << 60)
    with pytest.raises(HawseError) as raised:
        await made.use(made.backup("a"))
    assert raised.value.code == "no_space"
    assert made.names == []


async def test_a_damaged_archive_leaves_nothing(tmp_path: Path) -> None:
    made = Images(tmp_path)
    info = made.backup("a")
    whole = made.archives["a"]
    for damaged in (whole[:FILE] + b"x" + whole[FILE + 1 :], whole[:FILE], b"", os.urandom(3000)):
        made.archives["a"] = damaged
        with pytest.raises(HawseError, match="the archive is damaged") as raised:
            await made.use(info)
        assert raised.value.code == "io_error"
        assert made.names == []


async def test_an_abandoned_image_leaves_no_file_and_no_process(tmp_path: Path) -> None:
    made = Images(tmp_path)
    made.go_on.clear()
    using = asyncio.create_task(made.use(made.backup("a")))
    await eventually(lambda: made.names)
    [part] = made.names
    locked = os.open(made.root / part, os.O_RDONLY)
    using.cancel()
    with pytest.raises(asyncio.CancelledError):
        await using
    assert made.names == []
    fcntl.flock(locked, fcntl.LOCK_EX)  # no process has it any more
    os.close(locked)


async def test_unneeded_images_are_swept(tmp_path: Path) -> None:
    made = Images(tmp_path)
    infos = [made.backup(id) for id in ("existing", "gone", "mounted", "used")]
    for info in infos:
        await made.use(info)
    (made.root / ".part-killed").write_text("of a gateway that was killed")
    made.mounted = {"mounted"}
    async with made.images.held(infos[3], "ann", made.progress.append, lambda: None):
        await made.images.sweep({"existing"})
        assert made.names == ["existing", "mounted", "used"]
    made.mounted = set()
    await made.images.discard("mounted")
    await made.images.discard("missing")
    assert made.names == ["existing", "used"]
    await Images(tmp_path / "none").images.sweep(set())
