"""Backup images for overlays: squashfs files on this machine's disk, built from archives on first use.

The images are a cache of limited size. Mounted images and images in use are kept. Gateways on the same machine can
share the directory. A gateway holds a shared lock on an image while using it, and an exclusive lock while deleting it.
"""

import asyncio
import fcntl
import hashlib
import logging
import os
import secrets
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from hawse.api.backups import BackupFormat, BackupInfo, BackupProgress
from hawse.rpc.fair_turns import SIGN, FairTurns
from hawse.wire import HawseError
from hawse_gateway.backups import squashfs
from hawse_gateway.backups.settings import OF_IMAGES
from hawse_gateway.backups.squashfs import ImagePlan
from hawse_gateway.backups.stores import KEEP_FREE, store_errors
from hawse_gateway.core.cancellation import in_thread, kill_process, start_process

log = logging.getLogger(__name__)

PROGRAM: Final = (sys.executable, "-I", "-m", "hawse_gateway.backups.squashfs")
OWNER: Final = 1000  # owner of the files in an image: the user id of programs inside a sandbox
PART: Final = ".part-"  # name prefix for images being built
REPORT: Final = 4 << 20  # bytes of the archive to read between two progress reports
PLACES: Final = 2  # maximum number of images built concurrently; building is CPU-bound
UNPACKED: Final = 4  # maximum unpacked size, including holes, as a multiple of the total size limit for images
CPU_TIME: Final = 300  # CPU seconds for building an image, plus 1 second per CPU_RATE bytes of the archive
CPU_RATE: Final = 1 << 20
PRINTED_MAX: Final = 16 << 10  # maximum size of the build output shown to the operator, in bytes
MODE: Final = 0o444  # read-only, because another user's process serves the image and must not change it

Report = Callable[[BackupProgress], None]
Moved = Callable[[], None]


class BackupImages:
    """A cache of backup images.

    Args:
        root: The directory for the images, accessible only to the gateway's user. Each image is named after its
            backup's id.
        read: Yields the bytes in a backup's archive.
        mounted: Returns the ids of the mounted backups.
        size: The maximum total size of the images, in bytes.
        keep_free: The number of bytes to leave free on the disk.
        user_of: Returns the user for building a backup's image if the gateway runs as root.
    """

    def __init__(
        self,
        root: Path,
        read: Callable[[str], AsyncGenerator[bytes, None]],
        mounted: Callable[[], Awaitable[Collection[str]]],
        *,
        size: int = OF_IMAGES,
        keep_free: int = KEEP_FREE,
        user_of: Callable[[str], int],
    ) -> None:
        self._root = root
        self._read = read
        self._mounted = mounted
        self._size = size
        self._keep_free = keep_free
        self._user_of = user_of
        self._turns = FairTurns(PLACES)
        self._making: dict[str, asyncio.Event] = {}  # builds, keyed by backup id; set once a build has ended

    @asynccontextmanager
    async def held(self, info: BackupInfo, user: str, report: Report, moved: Moved) -> AsyncIterator[None]:
        """Build a backup's image if necessary, and keep it while the `async with` block runs.

        Args:
            info: The backup.
            user: The id of the user, for sharing the build slots fairly between users.
            report: Called with the progress.
            moved: Called whenever part of the archive has been transferred.

        Raises:
            HawseError: `unavailable` if mksquashfs is missing, `io_error` if the archive is damaged, `no_space` if the
                disk is full, and `limit_exceeded` if the images would be too large or building takes too long.
        """
        path = self._root / info.id
        while (fd := _hold(path)) is None:
            if (making := self._making.get(info.id)) is not None:
                moved()
                with suppress(TimeoutError):
                    async with asyncio.timeout(SIGN):
                        await making.wait()
                continue
            with self._announced(info.id):
                async with self._turns.turn(user, moved):
                    fd = _hold(path) or await self._make(info, path, report, moved)
            if fd is not None:
                break
        try:
            yield
        finally:
            os.close(fd)

    @contextmanager
    def _announced(self, id: str) -> Iterator[None]:
        """Register an image as being built, so that concurrent calls wait for it."""
        making = self._making[id] = asyncio.Event()
        try:
            yield
        finally:
            del self._making[id]
            making.set()

    async def discard(self, backup: str) -> None:
        """Delete a backup's image, unless it is in use or mounted."""
        await self._delete(backup)

    async def sweep(self, existing: Collection[str]) -> None:
        """Delete partial images left by killed gateways, and unmounted images of deleted backups.

        Args:
            existing: The ids of all backups, including those being created.
        """
        for name in await asyncio.to_thread(_names, self._root):
            if name not in existing:
                await self._delete(name)

    async def _make(self, info: BackupInfo, path: Path, report: Report, moved: Moved) -> int | None:
        """Build an image. Return its descriptor with a shared lock, or None if another gateway has deleted it."""
        program = squashfs.find()
        user = self._user_of(info.id) if os.getuid() == 0 else None
        with store_errors():
            fd, part = _create(self._root, user)
        try:
            plan = ImagePlan(
                program=program,
                format=msgspec.convert(info.format, BackupFormat),
                owner=OWNER,
                size=self._size,
                unpacked=UNPACKED * self._size,
                cpu=CPU_TIME + info.size // CPU_RATE,
                user=user,
            )
            await self._convert(info, fd, plan, report, moved)
            with store_errors():
                await in_thread(lambda: _commit(fd, part, path))
            await self._make_room(path)
            kept = _lock(fd, fcntl.LOCK_SH)  # fails if another gateway deleted the image between unlocking and locking
        except BaseException:
            part.unlink(missing_ok=True)
            os.close(fd)
            raise
        if not kept:
            os.close(fd)
            return None
        log.info("= image of backup %s: %d bytes", info.id, os.fstat(fd).st_size)
        return fd

    async def _convert(self, info: BackupInfo, image: int, plan: ImagePlan, report: Report, moved: Moved) -> None:
        """Send the archive to a process that builds the image, and verify the archive's checksum."""
        process = await start_process(
            *PROGRAM,
            msgspec.json.encode(plan).decode(),
            str(image),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=[image],
            env={},
            cwd="/",
        )
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            digest = await self._send(info, process.stdin, report, moved)
            printed = await _read(process.stderr)
            code = await process.wait()
        finally:
            await kill_process(process)
        if code == squashfs.TOO_LARGE:
            text = f"unpacked, the backup exceeds {UNPACKED * self._size} bytes, including the holes in its files"
            raise HawseError("limit_exceeded", f"{text}: use the mode `copy`", admitted="yes")
        if digest != info.sha256:
            text = f"the archive is damaged: its SHA-256 is {digest}, not {info.sha256}"
            raise HawseError("io_error", text, admitted="yes")
        if code != 0:
            log.warning("! image of backup %s: %s", info.id, printed.decode(errors="replace").strip())
            if os.fstat(image).st_size >= self._size:
                raise self._too_large()
            if b"No space left" in printed:
                raise _no_space()
            if code == -signal.SIGXCPU or b"SIGXCPU" in printed:
                raise HawseError("limit_exceeded", "building the backup's image takes too long", admitted="yes")
            raise HawseError("io_error", "the backup's image could not be built", admitted="yes")

    async def _send(self, info: BackupInfo, pipe: asyncio.StreamWriter, report: Report, moved: Moved) -> str:
        """Send the archive to the build process, and return the archive's SHA-256. If the process stops reading, it has
        failed."""
        digest = hashlib.sha256()
        sent = reported = 0
        report(BackupProgress(phase="converting"))
        async with aclosing(self._read(info.id)) as content:
            async for data in content:
                moved()
                digest.update(data)
                if not pipe.is_closing():
                    with suppress(ConnectionError):
                        pipe.write(data)
                        await pipe.drain()
                sent += len(data)
                if sent - reported >= REPORT:
                    reported = sent
                    report(BackupProgress(phase="converting", bytes=sent))
                if await asyncio.to_thread(_free, self._root) < self._keep_free:
                    raise _no_space()
        pipe.close()
        moved()
        return digest.hexdigest()

    async def _make_room(self, new: Path) -> None:
        """Delete the least recently used images until the limits are met.

        Raises:
            HawseError: `limit_exceeded`. In this case, the new image is deleted.
        """
        found = await asyncio.to_thread(_sizes, self._root)
        total = sum(size for _, size, _ in found)
        for _, size, name in sorted(found):
            if total > self._size and name != new.name and await self._delete(name):
                log.info("= image of backup %s deleted to make room for others", name)
                total -= size
        if total > self._size:
            await asyncio.to_thread(new.unlink)
            raise self._too_large()

    async def _delete(self, name: str) -> bool:
        """Delete an image unless it is in use or mounted. Return whether it was deleted."""
        path = self._root / name
        fd = _open(path, fcntl.LOCK_EX)
        if fd is None:
            return False
        try:
            if name in await self._mounted():
                return False
            with suppress(FileNotFoundError):
                if os.path.samestat(os.stat(path), os.fstat(fd)):
                    os.unlink(path)
            return True
        finally:
            os.close(fd)

    def _too_large(self) -> HawseError:
        return HawseError("limit_exceeded", f"the images for overlays would exceed {self._size} bytes")


def _no_space() -> HawseError:
    return HawseError("no_space", "the gateway's disk has no space for the backup's image", admitted="yes")


async def _read(pipe: asyncio.StreamReader) -> bytes:
    try:
        return await pipe.readexactly(PRINTED_MAX)
    except asyncio.IncompleteReadError as error:
        return error.partial


def _names(root: Path) -> list[str]:
    try:
        return sorted(os.listdir(root))
    except FileNotFoundError:
        return []


def _sizes(root: Path) -> list[tuple[float, int, str]]:
    """Return each image's last-used time, size on disk in bytes, and name."""
    found = []
    for name in _names(root):
        with suppress(FileNotFoundError):
            status = os.stat(root / name)
            found.append((status.st_mtime, status.st_blocks * 512, name))
    return found


def _free(root: Path) -> int:
    disk = os.statvfs(root)
    return disk.f_bavail * disk.f_frsize


def _create(root: Path, user: int | None) -> tuple[int, Path]:
    """Create an image file that `user` can write to. Return a descriptor with an exclusive lock, and the path."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        part = root / f"{PART}{secrets.token_hex(8)}"
        fd = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            if _lock(fd, fcntl.LOCK_EX):
                if user is not None:
                    os.fchown(fd, user, user)
                return fd, part
        except BaseException:
            part.unlink(missing_ok=True)
            os.close(fd)
            raise
        os.close(fd)  # another gateway has locked the new file and is deleting it


def _commit(fd: int, part: Path, path: Path) -> None:
    """Make a complete image durable and read-only, and rename it to its final name."""
    os.fchown(fd, os.getuid(), os.getgid())
    os.fchmod(fd, MODE)
    os.fsync(fd)
    part.rename(path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _hold(path: Path) -> int | None:
    """Lock an image for use, and update its last-used time. Return the descriptor, or None if it does not exist."""
    fd = _open(path, fcntl.LOCK_SH)
    if fd is not None:
        try:
            os.utime(fd)
        except BaseException:
            os.close(fd)
            raise
    return fd


def _open(path: Path, lock: int) -> int | None:
    """Open and lock a file. Return the descriptor, or None if the file does not exist or cannot be locked."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    locked = False
    try:
        locked = _lock(fd, lock)
    finally:
        if not locked:
            os.close(fd)
    return fd if locked else None


def _lock(fd: int, lock: int) -> bool:
    """Lock a file. Return whether it was locked and still exists."""
    try:
        fcntl.flock(fd, lock | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.fstat(fd).st_nlink > 0
