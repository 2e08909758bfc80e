"""Queries about files: the part of `Files` that describes, lists and searches files."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Sequence
from typing import Any, TypeVar

import msgspec

from hawse.api import files as api
from hawse.api.paths import from_text, to_text
from hawse.client.base.call_errors import TooLargeError
from hawse.client.base.errors import fresh
from hawse.client.calls.event_stream import EventStreamCall, iterate
from hawse.client.files.changes import FileChanges, PathLike
from hawse.wire import HawseError


class FileListing(AsyncIterator[api.FileEntry]):
    """The result of `files.list`. Iterate over it with `async for`, or await it to get a list."""

    def __init__(self, entries: AsyncGenerator[api.FileEntry]) -> None:
        self._entries = entries

    def __await__(self) -> Generator[Any, Any, list[api.FileEntry]]:
        return self._all().__await__()

    async def __anext__(self) -> api.FileEntry:
        return await anext(self._entries)

    async def aclose(self) -> None:
        """End the iteration and release its resources."""
        await self._entries.aclose()

    async def _all(self) -> list[api.FileEntry]:
        return [entry async for entry in self._entries]


class FileQueries(FileChanges):
    """A base class of `Files` for describing files, listing directories and searching."""

    async def stat(self, path: PathLike, *, follow: bool = True, detect: bool = False) -> api.FileStatResult:
        """Describe the file at `path`.

        Args:
            path: The file or directory.
            follow: Whether to follow a symlink instead of describing the symlink itself.
            detect: Whether to read the start of a file to fill in `mime` and `binary` in the result.
        """
        return _local(await self._request(api.FileStat(**self._target(path), follow=follow, detect=detect)))

    async def exists(self, path: PathLike, *, follow: bool = True) -> bool:
        """Return whether `path` exists. A dangling symlink only counts as existing if `follow` is false."""
        return (await self._request(api.FileExists(**self._target(path), follow=follow))).exists

    def list(
        self,
        path: PathLike = ".",
        *,
        recursive: bool = False,
        depth: int | None = None,
        hidden: bool = True,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        on_error: Callable[[api.FileFailure], object] | None = None,
    ) -> "FileListing":
        """List a directory, in no particular order.

        `async for entry in files.list()` uses a constant amount of memory, however large the directory is; `await
        files.list()` returns a list.

        Args:
            path: The directory. The paths of entries are relative to it.
            recursive: Whether to descend into subdirectories. Symlinks are not followed.
            depth: Maximum number of levels to descend.
            hidden: Whether to include names that start with a dot.
            include: Globs for files to include: `*.py` matches names at any depth, `src/**/*.py` matches paths.
            exclude: Globs for files to exclude.
            on_error: Called for entries that cannot be read; the iteration continues. If None, the error is raised.
        """
        params = api.FileList(
            **self._target(path),
            recursive=recursive,
            depth=depth,
            hidden=hidden,
            include=globs(include),
            exclude=globs(exclude),
        )
        return FileListing(self._entries(params, on_error))

    async def _entries(
        self, params: api.FileList, on_error: Callable[[api.FileFailure], object] | None
    ) -> AsyncGenerator[api.FileEntry]:
        call = EventStreamCall(params, sandbox=self._sandbox, window=self._window)
        async for item in iterate(self._calls, call):
            if isinstance(item, api.FileFailure):
                _report(item, on_error)
            elif isinstance(item, api.FileEntries):
                for entry in item.entries:
                    yield _local(entry)

    async def search(
        self,
        pattern: str | None = None,
        path: PathLike = ".",
        *,
        literal: bool = False,
        ignore_case: bool = False,
        words: Sequence[str] | None = None,
        hidden: bool = True,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        limit: int = 1000,
        on_error: Callable[[api.FileFailure], object] | None = None,
    ) -> AsyncIterator[api.SearchMatch]:
        """Iterate over the lines that match `pattern` or, without a pattern, over the files selected by the globs.

        Paths are relative to `path`. Binary files are skipped.

        Args:
            pattern: A regular expression in RE2 syntax.
            path: The directory to search.
            literal: Whether `pattern` is plain text rather than a regular expression.
            ignore_case: Whether to ignore case.
            words: Strings that a file's path must all contain, in any order and ignoring case. None accepts any path.
            hidden: Whether to include names that start with a dot.
            include: Globs for files to include, as in `list`.
            exclude: Globs for files to exclude.
            limit: Maximum number of matches.
            on_error: As in `list`.

        Raises:
            HawseError: `too_large` if there are more than `limit` matches.
        """
        params = api.FileSearch(
            **self._target(path),
            pattern=pattern,
            literal=literal,
            ignore_case=ignore_case,
            words=None if words is None else [*words],
            hidden=hidden,
            include=globs(include),
            exclude=globs(exclude),
            limit=limit,
        )
        call = EventStreamCall(params, sandbox=self._sandbox, window=self._window)
        async for item in iterate(self._calls, call):
            if isinstance(item, api.FileFailure):
                _report(item, on_error)
            elif isinstance(item, api.SearchMatches):
                for match in item.matches:
                    yield msgspec.structs.replace(match, path=from_text(match.path))
        if call.done.result().truncated:
            raise TooLargeError(f"there are more than {limit} matches", admitted="yes")


E = TypeVar("E", bound=api.FileEntry)


def _local(entry: E) -> E:
    """Return the entry with its paths decoded."""
    target = None if entry.target is None else from_text(entry.target)
    return msgspec.structs.replace(entry, path=from_text(entry.path), target=target)


def globs(globs: Sequence[str] | None) -> "list[str] | None":
    return None if globs is None else [to_text(glob) for glob in globs]


def _report(failed: api.FileFailure, on_error: Callable[[api.FileFailure], object] | None) -> None:
    failed = msgspec.structs.replace(failed, path=from_text(failed.path))
    if on_error is None:
        raise fresh(HawseError(failed.code, failed.message, admitted="yes", details={"path": failed.path}))
    on_error(failed)
