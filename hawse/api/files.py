"""Files: the `file.*` methods as types. Paths travel as `hawse.api.paths` says."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import InputId, Length, Mode, Offset, Path, Pattern

FileType = Literal["file", "directory", "symlink", "fifo", "socket", "device"]
Glob = Annotated[str, Meta(min_length=1, max_length=1024)]
Globs = Annotated[list[Glob], Meta(max_length=100)]
Depth = Annotated[int, Meta(ge=1)]
Limit = Annotated[int, Meta(ge=1, le=100_000)]
ArchiveFormat = Literal["tar", "tar.gz", "zip"]


# ---- values


class FileTarget(ParamsValue, kw_only=True):
    """Where: a relative `path` begins in the workspace, or in `root`, which then nothing leaves, symlinks included."""

    path: Path
    root: Path | None = None


class FileOpened(Reply, frozen=True, kw_only=True):
    """`size` in bytes: 0 as well for what does not know its size, as in /proc. `version` names the content."""

    size: int
    version: str
    mode: int
    mtime: float


class FileWriteOpened(Reply, frozen=True, kw_only=True):
    """How much of the input has been applied."""

    input_offset: int = 0


class FileTransferResult(Reply, frozen=True, kw_only=True):
    """How many bytes were read or written."""

    bytes: int
    version: str


class FileEntry(Reply, frozen=True, kw_only=True):
    """What is at `path`: `mtime` in seconds since 1970, `target` of a symlink that was not followed."""

    path: str
    type: FileType
    size: int
    mode: int
    mtime: float
    uid: int = 0
    gid: int = 0
    target: str | None = None


class FileStatResult(FileEntry, frozen=True, kw_only=True):
    """A file; `version` names its content."""

    version: str | None = None


class FileExistsResult(Reply, frozen=True, kw_only=True):
    """Whether there is something, and of which type."""

    exists: bool
    type: FileType | None = None


class FileEntries(Reply, frozen=True, kw_only=True):
    """Paths are relative to what is listed."""

    entries: list[FileEntry]


class FileFailure(Reply, frozen=True, kw_only=True):
    """What is at `path` could not be looked at."""

    path: str
    code: str
    message: str


class FileListResult(Reply, frozen=True, kw_only=True):
    """How many entries were told, and how many could not be."""

    entries: int
    failed: int


class FileMkdirResult(Reply, frozen=True, kw_only=True):
    """Whether it was made by this call."""

    created: bool


class FileDeleteResult(Reply, frozen=True, kw_only=True):
    """How many files and directories."""

    deleted: int


class FileCopyResult(Reply, frozen=True, kw_only=True):
    """`skipped`: sockets and devices."""

    files: int
    bytes: int
    skipped: int


class SearchMatch(Reply, frozen=True, kw_only=True):
    """A file whose name matched, or a `line` (from 1) of it with the `spans` that match, in characters of `text`."""

    path: str
    line: int | None = None
    text: str | None = None
    spans: list[tuple[int, int]] = msgspec.field(default_factory=list)
    truncated: bool = False


class SearchMatches(Reply, frozen=True, kw_only=True):
    """Paths are relative to where was searched."""

    matches: list[SearchMatch]


class FileSearchResult(Reply, frozen=True, kw_only=True):
    """`truncated`: there are more than the limit. `failed`: what could not be looked at."""

    matches: int
    truncated: bool
    failed: int


class FileArchiveOpened(Reply, frozen=True, kw_only=True):
    """A name for it."""

    name: str


class FileArchiveResult(Reply, frozen=True, kw_only=True):
    """`failed`: what could not be read, and is not whole in it; `skipped`: sockets and devices."""

    bytes: int
    files: int
    failed: int
    skipped: int


# ---- methods


@method("file.read", events={"opened": FileOpened}, output=("content",))
class FileRead(FileTarget, Params[FileTransferResult], kw_only=True):
    """Stream a file's bytes, or a part of them.

    With a `version`, only of that one. A file that is changed while it is read is `conflict`.
    """

    offset: Offset | None = None
    length: Length | None = None
    version: str | None = None


@method("file.write", events={"opened": FileWriteOpened}, input=True)
class FileWrite(FileTarget, Params[FileTransferResult], kw_only=True):
    """Replace a file, atomically, with the bytes that are sent.

    It keeps its mode unless one is given, and its owner where that is allowed. Directories that are missing are made
    unless `parents` is false.
    """

    input: InputId
    mode: Mode | None = None
    parents: bool | None = None


@method("file.stat", safe=True)
class FileStat(FileTarget, Params[FileStatResult], kw_only=True):
    """Describe a file, or with `follow: false` the symlink itself."""

    follow: bool = True


@method("file.exists", safe=True)
class FileExists(FileTarget, Params[FileExistsResult], kw_only=True):
    """Say whether there is something, and what. A symlink to nothing is nothing, unless `follow` is false."""

    follow: bool = True


@method("file.list", events={"entries": FileEntries, "failed": FileFailure})
class FileList(FileTarget, Params[FileListResult], kw_only=True):
    """List a directory, in batches, in the order of the disk.

    `recursive` goes down, at most `depth` levels; symlinks are told and not followed.
    """

    recursive: bool = False
    depth: Depth | None = None
    hidden: bool = True
    include: Globs | None = None
    exclude: Globs | None = None


@method("file.mkdir")
class FileMkdir(FileTarget, Params[FileMkdirResult], kw_only=True):
    """Make a directory. With `parents` also those above, and one that is there is fine."""

    parents: bool = False
    mode: Mode | None = None


@method("file.chmod")
class FileChmod(FileTarget, Params[Nothing], kw_only=True):
    """Set permission bits."""

    mode: Mode


@method("file.delete")
class FileDelete(FileTarget, Params[FileDeleteResult], kw_only=True):
    """Delete a file, a symlink, or with `recursive` a directory and all that is in it. Symlinks are not followed."""

    recursive: bool = False


@method("file.rename")
class FileRename(FileTarget, Params[Nothing], kw_only=True):
    """Rename within a file system, atomically. What is at `to` is `conflict` unless `overwrite`."""

    to: Path
    overwrite: bool = False


@method("file.move")
class FileMove(FileTarget, Params[Nothing], kw_only=True):
    """Rename, or across file systems copy and delete."""

    to: Path
    overwrite: bool = False


@method("file.copy")
class FileCopy(FileTarget, Params[FileCopyResult], kw_only=True):
    """Copy a file, a symlink, or with `recursive` a directory: modes and times are kept, symlinks stay symlinks.

    It appears at `to` when it is whole. `overwrite` replaces a file, never a directory.
    """

    to: Path
    recursive: bool = False
    overwrite: bool = False


@method("file.search", events={"matches": SearchMatches, "failed": FileFailure})
class FileSearch(FileTarget, Params[FileSearchResult], kw_only=True):
    """Find files by name, or with `pattern` the lines in them that match.

    `pattern` is in RE2's syntax, unless `literal`. At most `limit` matches; binary files are passed over.
    """

    pattern: Pattern | None = None
    literal: bool = False
    ignore_case: bool = False
    hidden: bool = True
    include: Globs | None = None
    exclude: Globs | None = None
    limit: Limit = 1000


@method("file.archive", events={"opened": FileArchiveOpened}, output=("content",))
class FileArchive(FileTarget, Params[FileArchiveResult], kw_only=True):
    """Stream a directory, or a file, as an archive. Symlinks stay symlinks."""

    format: ArchiveFormat = "tar.gz"
    include: Globs | None = None
    exclude: Globs | None = None
