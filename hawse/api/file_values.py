"""Values of the `file.*` methods: what they return and what several of them take."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import ParamsValue, Reply
from hawse.api.types import Id, Path

FileType = Literal["file", "directory", "symlink", "fifo", "socket", "device"]
Glob = Annotated[str, Meta(min_length=1, max_length=1024)]
Globs = Annotated[list[Glob], Meta(max_length=100)]
Words = Annotated[list[Annotated[str, Meta(min_length=1, max_length=1024)]], Meta(max_length=32)]
Depth = Annotated[int, Meta(ge=1)]  # levels of directories
Limit = Annotated[int, Meta(ge=1, le=100_000)]  # matches
ArchiveFormat = Literal["tar", "tar.gz", "zip"]


class FileTarget(ParamsValue, kw_only=True):
    """The path of a file method.

    With `root`, a path that leaves it, also through `..` or a symlink, is `permission_denied`.

    Args:
        path: The file or directory. A relative path begins in `root`, or else in the workspace.
        root: Directory that the call cannot leave; null: the runtime's own root, if it has one.
        session: Id of a session. Relative paths begin in its current directory instead of the workspace; one that has
            ended is `exited`. Null: none.
    """

    path: Path
    root: Path | None = None
    session: Id | None = None


class FileOpened(Reply, frozen=True, kw_only=True):
    """The file is open for reading.

    Attributes:
        size: Size of the file, in bytes; 0 for files without a size, as in /proc.
        version: Identifies the content of the file by device, inode, size and time.
        mode: Permission bits.
        mtime: Time of the last modification, in seconds since 1970.
    """

    size: int
    version: str
    mode: int
    mtime: float


class FileWriteOpened(Reply, frozen=True, kw_only=True):
    """The upload has begun, or continues.

    Attributes:
        input_offset: Bytes of the input that were received already.
    """

    input_offset: int = 0


class FileTransferResult(Reply, frozen=True, kw_only=True):
    """The transfer is complete.

    Attributes:
        bytes: Number of bytes that were read or written.
        version: Identifies the content of the file.
    """

    bytes: int
    version: str


class FileEntry(Reply, frozen=True, kw_only=True):
    """A file, a directory or another entry of a directory.

    Attributes:
        path: Path of the entry.
        type: Type of the entry.
        size: Size, in bytes.
        mode: Permission bits.
        mtime: Time of the last modification, in seconds since 1970.
        uid: Id of the owner.
        gid: Id of the owning group.
        target: Target of a symlink that was not followed; null for all else.
        mtime_ns: Time of the last modification, exactly, in nanoseconds since 1970.
        allocated: Bytes on the disk; fewer than `size` for a file with holes. Null from a server that does not know.
    """

    path: str
    type: FileType
    size: int
    mode: int
    mtime: float
    uid: int = 0
    gid: int = 0
    target: str | None = None
    mtime_ns: int | None = None
    allocated: int | None = None


class FileStatResult(FileEntry, frozen=True, kw_only=True):
    """A file or directory.

    Attributes:
        version: Identifies the content of the file.
        mime: Type of the content, such as `image/png`, with `detect`; by the name, or else by the content. Null for
            anything but a file.
        binary: Whether the content is not text in UTF-8, with `detect`; null for anything but a file.
    """

    version: str | None = None
    mime: str | None = None
    binary: bool | None = None


class FileExistsResult(Reply, frozen=True, kw_only=True):
    """Whether a path exists.

    Attributes:
        exists: Whether there is a file or directory.
        type: Its type; null if it does not exist.
    """

    exists: bool
    type: FileType | None = None


class FileEntries(Reply, frozen=True, kw_only=True):
    """A batch of directory entries.

    Attributes:
        entries: The entries; their paths are relative to the listed directory.
    """

    entries: list[FileEntry]


class FileFailure(Reply, frozen=True, kw_only=True):
    """A path that could not be read; the call continues.

    Attributes:
        path: The path, relative to the path of the call.
        code: Code of the error.
        message: Description of the error, for people.
    """

    path: str
    code: str
    message: str


class FileListResult(Reply, frozen=True, kw_only=True):
    """The listing is complete.

    Attributes:
        entries: Number of entries that were sent.
        failed: Number of paths that could not be read.
    """

    entries: int
    failed: int


class FileMkdirResult(Reply, frozen=True, kw_only=True):
    """The directory exists.

    Attributes:
        created: Whether this call has created it.
    """

    created: bool


class FileDeleteResult(Reply, frozen=True, kw_only=True):
    """The path was deleted.

    Attributes:
        deleted: Number of files and directories that were deleted.
    """

    deleted: int


class FileCopyResult(Reply, frozen=True, kw_only=True):
    """The copy is complete.

    Attributes:
        files: Number of files that were copied.
        bytes: Size of the copied files, in bytes; the holes of sparse files count.
        skipped: Number of sockets and devices, which are not copied.
    """

    files: int
    bytes: int
    skipped: int


class SearchMatch(Reply, frozen=True, kw_only=True):
    """A file whose name matches, or a line of it.

    Attributes:
        path: Path of the file, relative to the searched directory.
        line: Number of the line, from 1; null for a match of the name.
        text: The line, up to 2,000 bytes of it; null for a match of the name.
        spans: Start and end of each match in `text`, in characters; at most 100.
        truncated: Whether `text` was cut.
    """

    path: str
    line: int | None = None
    text: str | None = None
    spans: list[tuple[int, int]] = msgspec.field(default_factory=list)
    truncated: bool = False


class SearchMatches(Reply, frozen=True, kw_only=True):
    """A batch of matches.

    Attributes:
        matches: The matches.
    """

    matches: list[SearchMatch]


class FileSearchResult(Reply, frozen=True, kw_only=True):
    """The search is complete.

    Attributes:
        matches: Number of matches that were sent.
        truncated: Whether there are more matches than the limit.
        failed: Number of paths that could not be read.
    """

    matches: int
    truncated: bool
    failed: int


class FileArchiveOpened(Reply, frozen=True, kw_only=True):
    """The archive has begun.

    Attributes:
        name: A file name for the archive.
    """

    name: str


class FileArchiveResult(Reply, frozen=True, kw_only=True):
    """The archive is complete.

    Attributes:
        bytes: Size of the archive, in bytes.
        files: Number of entries in the archive.
        failed: Number of paths that are missing or incomplete in it, because they could not be read.
        skipped: Number of sockets and devices, which are not archived.
    """

    bytes: int
    files: int
    failed: int
    skipped: int
