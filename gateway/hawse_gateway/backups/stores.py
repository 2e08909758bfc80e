"""Stores for backup archives: a directory or a bucket. Incomplete archives are never visible."""

import asyncio
import errno
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from hawse.wire import HawseError
from hawse_gateway.core.cancellation import in_thread

BLOCK: Final = 1 << 20  # bytes per read
KEEP_FREE: Final = 512 << 20  # bytes to leave free on the disk, because the gateway needs space for rows and logs
PART: Final = ".part"  # file name suffix for incomplete archives
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


class BackupWriter(Protocol):
    """An archive being written. Methods raise `HawseError` (`no_space` or `unavailable`)."""

    async def write(self, data: bytes) -> None:
        """Append bytes to the archive."""

    async def commit(self) -> None:
        """Complete the archive, and make it durable and visible."""


class BackupStore(Protocol):
    """Stores archives, keyed by backup id. Methods raise `HawseError` (`no_space` or `unavailable`)."""

    def writing(self, id: str) -> AbstractAsyncContextManager[BackupWriter]:
        """Write an archive inside the `async with` block. Unless it is committed, it is removed at the end of the
        block."""
        ...

    def read(self, id: str) -> AsyncGenerator[bytes, None]:
        """Yield an archive's bytes. Raises `HawseError` (`io_error`) if the archive does not exist."""
        ...

    async def delete(self, id: str) -> None:
        """Delete an archive, even an incomplete one. Has no effect if it does not exist."""


def open_store(place: str) -> BackupStore:
    """Return the store for a URL `s3://BUCKET/PREFIX` or for the path of a directory.

    Raises:
        ValueError: The URL is invalid.
    """
    if "://" not in place:
        return DirectoryStore(Path(place))
    try:
        object_store = import_module("hawse_gateway.backups.object_store")  # needs optional packages
    except ModuleNotFoundError as error:
        raise ValueError(f"{place} needs {error.name}: pip install 'hawse[s3]'") from error
    found: BackupStore = object_store.ObjectStore(place)
    return found


@contextmanager
def store_errors() -> Iterator[None]:
    """Convert an `OSError` from a store to a `HawseError`."""
    try:
        yield
    except FileNotFoundError as error:
        raise HawseError("io_error", "archive not found in the backup store", admitted="yes") from error
    except OSError as error:
        code = "no_space" if error.errno in _FULL else "unavailable"
        text = f"the backup store: {error.strerror or error}"
        raise HawseError(code, text, admitted="unknown", details={"errno": error.errno}) from error


class DirectoryStore:
    """A store with one file per archive. Its directory is created on first use and accessible only to its owner.

    Args:
        directory: The path of the directory.
        keep_free: Bytes to leave free on the disk.
    """

    def __init__(self, directory: Path, *, keep_free: int = KEEP_FREE) -> None:
        self._directory = directory
        self._keep_free = keep_free

    @asynccontextmanager
    async def writing(self, id: str) -> AsyncIterator["FileWriter"]:
        writer = FileWriter(self._directory / id, keep_free=self._keep_free)
        try:
            await writer.open()
            yield writer
        finally:
            with store_errors():
                await in_thread(writer.close)

    async def read(self, id: str) -> AsyncGenerator[bytes, None]:
        with store_errors():
            file = await asyncio.to_thread(_open, self._directory / id)
        try:
            while True:
                with store_errors():
                    data = await in_thread(lambda: file.read(BLOCK))
                if not data:
                    return
                yield data
        finally:
            file.close()

    async def delete(self, id: str) -> None:
        with store_errors():
            await in_thread(lambda: _delete(self._directory / id))


class FileWriter:
    """The `BackupWriter` for a directory. `close` blocks.

    Args:
        path: The path of the archive.
        keep_free: Bytes to leave free on the disk.
    """

    def __init__(self, path: Path, *, keep_free: int = 0) -> None:
        self._keep_free = keep_free
        self._path = path
        self._part = path.with_name(path.name + PART)
        self._fd = -1  # the archive's descriptor, once it is open

    async def open(self) -> None:
        with store_errors():
            await in_thread(self._open)

    async def write(self, data: bytes) -> None:
        with store_errors():
            await in_thread(lambda: self._write(data))

    async def commit(self) -> None:
        with store_errors():
            await in_thread(self._commit)

    def close(self) -> None:
        """Remove the archive unless it was committed."""
        if self._fd >= 0:
            os.close(self._fd)
            with suppress(FileNotFoundError):
                self._part.unlink()

    def _open(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._fd = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def _write(self, data: bytes) -> None:
        disk = os.fstatvfs(self._fd)
        if disk.f_bavail * disk.f_frsize - len(data) < self._keep_free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._fd, rest) :]

    def _commit(self) -> None:
        os.fsync(self._fd)
        self._part.rename(self._path)
        directory = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _open(path: Path) -> BinaryIO:
    return path.open("rb", buffering=0)


def _delete(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_name(path.name + PART).unlink(missing_ok=True)
