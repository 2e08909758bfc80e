"""Copies a directory and everything in it, to or from a sandbox or between sandboxes."""

import asyncio
import errno
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, TypeVar

from hawse.client.base.errors import BusyError, ClientClosedError
from hawse.client.files.endpoints import Endpoint, copy_file
from hawse.client.files.local_files import Progress
from hawse.client.files.tree import Link, OnFailure, TreeEntry
from hawse.wire import HawseError

T = TypeVar("T")

AT_ONCE: Final = 8  # number of files to copy concurrently; enough to hide the round trips when files are small
# Errors that only affect a single path, so the rest can still be copied. Other errors, such as a full disk, stop the
# whole transfer.
OF_A_PATH: Final = frozenset(
    {
        "not_found",
        "not_directory",
        "is_directory",
        "permission_denied",
        "conflict",
        "invalid_params",
        "io_error",
        "too_large",
    }
)
OF_THE_DISK: Final = (errno.ENOSPC, errno.EDQUOT)


@dataclass
class TreeResult:
    """Statistics for a transfer.

    Attributes:
        files: Number of files.
        bytes: Total size of the files, in bytes.
        links: Number of symlinks.
        skipped: The paths of FIFOs, sockets and devices, which are skipped.
        failed: The paths that could not be copied.
    """

    files: int = 0
    bytes: int = 0
    links: int = 0
    skipped: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


class TreeTransfer:
    """Copies one directory or file."""

    def __init__(
        self,
        source: Endpoint,
        target: Endpoint,
        *,
        progress: Progress | None = None,
        on_error: OnFailure | None = None,
        into: bool = False,
    ) -> None:
        """Prepare a copy.

        Args:
            source: The directory to copy.
            target: The destination. At least one of source and target is in a sandbox.
            progress: Called with the number of bytes copied so far and the total number.
            on_error: Called with each path below `source` that cannot be copied, and the exception. If None, the
                exception is raised.
            into: Whether `target` keeps its mode and modification time if it already exists.
        """
        self.result = TreeResult()
        self._source = source
        self._target = target
        self._progress = progress
        self._on_error = on_error
        self._into = into
        self._copied = self._whole = 0  # bytes
        self._created: set[str] = set()  # directories created by this copy

    async def run(self) -> TreeResult:
        """Copy the directories, then the files and symlinks, and finally set the directories' modes and modification
        times.

        Raises:
            OSError: A local file cannot be read or written.
            HawseError: A file in a sandbox cannot be read or written.
        """
        tree = await self._source.tree(self._failed)
        self.result.skipped = tree.special
        self._whole = tree.size
        self._advance(0)
        directories = sorted(tree.directories, key=_depth)
        for _, level in groupby(directories, key=_depth):
            await self._each(level, self._make_directory)
        await self._each(tree.files, self._copy_file)
        await self._each(tree.links, self._make_link)
        for _, level in groupby(reversed(directories), key=_depth):
            await self._each(level, self._finish_directory)
        return self.result

    async def _make_directory(self, entry: TreeEntry) -> None:
        if await self._target.make_directory(entry):
            self._created.add(entry.path)

    async def _copy_file(self, entry: TreeEntry) -> None:
        await copy_file(self._source, self._target, entry, self._advance)
        self.result.files += 1
        self.result.bytes += entry.size

    async def _make_link(self, link: Link) -> None:
        await self._target.make_link(link)
        self.result.links += 1

    async def _finish_directory(self, entry: TreeEntry) -> None:
        created = entry.path in self._created
        if created or entry.path or not self._into:
            await self._target.finish_directory(entry, created=created)

    def _advance(self, count: int) -> None:
        self._copied += count
        if self._progress is not None:
            self._progress(self._copied, self._whole)

    async def _each(self, entries: Iterable[TreeEntry] | Iterable[Link], work: Callable[[T], Awaitable[None]]) -> None:
        """Await `work` for each entry, a few at a time. If some entries fail, their errors are reported, and the other
        entries continue.
        """
        rest: Iterator[T] = iter(entries)  # type: ignore[arg-type]

        async def worker() -> None:
            for entry in rest:
                try:
                    await work(entry)
                except (HawseError, OSError) as error:
                    path: str = entry.path  # type: ignore[attr-defined]
                    if path and _is_of_a_path(error):
                        self._failed(path, error)
                    else:
                        raise

        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(AT_ONCE):
                    tasks.create_task(worker())
        except* (HawseError, OSError) as errors:
            raise _first(errors) from None

    def _failed(self, path: str, error: Exception) -> None:
        if self._on_error is None:
            raise error
        self.result.failed.append(path)
        self._on_error(path, error)


def _depth(directory: TreeEntry) -> int:
    return directory.path.count("/") + 1 if directory.path else 0


def _is_of_a_path(error: HawseError | OSError) -> bool:
    if isinstance(error, HawseError):
        return error.code in OF_A_PATH and not isinstance(error, ClientClosedError | BusyError)
    return error.errno not in OF_THE_DISK


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    found = errors.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found
