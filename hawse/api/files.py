"""Files: the `file.*` methods. Paths are encoded as `hawse.api.paths` describes."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import PATH_ERRORS, InputId, Length, Mode, Offset, Path, Pattern

FileType = Literal["file", "directory", "symlink", "fifo", "socket", "device"]
Glob = Annotated[str, Meta(min_length=1, max_length=1024)]
Globs = Annotated[list[Glob], Meta(max_length=100)]
Depth = Annotated[int, Meta(ge=1)]  # levels of directories
Limit = Annotated[int, Meta(ge=1, le=100_000)]  # matches
ArchiveFormat = Literal["tar", "tar.gz", "zip"]


# ---- values


class FileTarget(ParamsValue, kw_only=True):
    """The path of a file method.

    With `root`, a path that leaves it, also through `..` or a symlink, is `permission_denied`.

    Args:
        path: The file or directory. A relative path begins in `root`, or else in the workspace.
        root: Directory that the call cannot leave; null: the runtime's own root, if it has one.
    """

    path: Path
    root: Path | None = None


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
    """

    path: str
    type: FileType
    size: int
    mode: int
    mtime: float
    uid: int = 0
    gid: int = 0
    target: str | None = None


class FileStatResult(FileEntry, frozen=True, kw_only=True):
    """A file or directory.

    Attributes:
        version: Identifies the content of the file.
    """

    version: str | None = None


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


# ---- methods


@method(
    "file.read", events={"opened": FileOpened}, output=("content",), raises=(*PATH_ERRORS, "is_directory", "conflict")
)
class FileRead(FileTarget, Params[FileTransferResult], kw_only=True):
    """Stream the bytes of a file, or of a part of it.

    The offsets of the byte stream are those in the file. Bytes that are added meanwhile are not read. `conflict`: the
    file has another version than the requested one, or was shortened meanwhile.

    Args:
        offset: First byte to read; null: 0.
        length: Number of bytes to read; null: to the end.
        version: The version that the file must have; null: any.
    """

    offset: Offset | None = None
    length: Length | None = None
    version: str | None = None


@method(
    "file.write",
    events={"opened": FileWriteOpened},
    input=True,
    raises=(
        *PATH_ERRORS,
        "is_directory",
        "no_space",
        "too_large",
        "limit_exceeded",
        "exited",
        "input_gap",
        "interrupted",
        "cancelled",
    ),
)
class FileWrite(FileTarget, Params[FileTransferResult], kw_only=True):
    """Replace a file with the input of the call, atomically.

    The file appears when all input was received; until then the old one stays. It keeps its permission bits unless
    `mode` is given, and its owner where that is allowed. The target of a symlink is replaced.

    With an idempotency key, an upload whose connection was lost waits 30 seconds for a call that continues it; a call
    that is replaced in this way ends with `interrupted`, and one that was given up with `cancelled`.

    Args:
        input: Id of the stream of input, the same for each call that continues the upload.
        mode: Permission bits; null: those of the file that is replaced.
        parents: Whether missing parent directories are created; null: true.
    """

    input: InputId
    mode: Mode | None = None
    parents: bool | None = None


@method("file.cancel")
class FileCancel(Params[Nothing], kw_only=True):
    """Give up an upload. One that has received all its input, has ended or never existed is not an error.

    Args:
        key: The idempotency key of the `file.write` call.
    """

    key: Annotated[str, Meta(min_length=1, max_length=128)]


@method("file.stat", safe=True, raises=PATH_ERRORS)
class FileStat(FileTarget, Params[FileStatResult], kw_only=True):
    """Describe a file or directory.

    Args:
        follow: Whether to follow a symlink rather than describe it.
    """

    follow: bool = True


@method("file.exists", safe=True, raises=("permission_denied", "io_error"))
class FileExists(FileTarget, Params[FileExistsResult], kw_only=True):
    """Check whether a path exists, and return its type.

    A symlink whose target does not exist does not exist, unless `follow` is false.

    Args:
        follow: Whether to follow a symlink rather than check for it.
    """

    follow: bool = True


@method("file.list", events={"entries": FileEntries, "failed": FileFailure}, raises=PATH_ERRORS)
class FileList(FileTarget, Params[FileListResult], kw_only=True):
    """List a directory in batches, in no particular order.

    Symlinks are listed and not followed. At most 128 nested directories are entered; deeper ones are reported as
    `failed` with `too_large`.

    Args:
        recursive: Whether to list the directories below as well.
        depth: Number of levels to list with `recursive`, at most; null: all.
        hidden: Whether to include names that begin with a dot.
        include: Globs of what to include: a name at any depth or, with a slash, a path. Null: everything.
        exclude: Globs of what to exclude, with everything below it. Null: nothing.
    """

    recursive: bool = False
    depth: Depth | None = None
    hidden: bool = True
    include: Globs | None = None
    exclude: Globs | None = None


@method("file.mkdir", raises=(*PATH_ERRORS, "conflict", "no_space"))
class FileMkdir(FileTarget, Params[FileMkdirResult], kw_only=True):
    """Create a directory.

    An existing path is `conflict`, except a directory if `parents` is true.

    Args:
        parents: Whether missing parent directories are created, and an existing directory is not an error.
        mode: Permission bits; null: those that the umask leaves.
    """

    parents: bool = False
    mode: Mode | None = None


@method("file.chmod", raises=PATH_ERRORS)
class FileChmod(FileTarget, Params[Nothing], kw_only=True):
    """Set the permission bits of a file or directory.

    Args:
        mode: Permission bits.
    """

    mode: Mode


@method("file.delete", raises=(*PATH_ERRORS, "is_directory", "conflict", "too_large"))
class FileDelete(FileTarget, Params[FileDeleteResult], kw_only=True):
    """Delete a file, a symlink or a directory; symlinks are not followed.

    If a path below a directory cannot be deleted, `details.path` names it, and the rest is left.

    Args:
        recursive: Whether to delete a directory and everything in it; otherwise a directory is `is_directory`.
    """

    recursive: bool = False


@method("file.rename", raises=(*PATH_ERRORS, "is_directory", "conflict", "no_space"))
class FileRename(FileTarget, Params[Nothing], kw_only=True):
    """Rename a file or directory within its file system, atomically.

    An existing `to` is `conflict` unless `overwrite` is true; a `to` on another file system is `invalid_params`.

    Args:
        to: The new path, resolved as `path` is.
        overwrite: Whether an existing file is replaced.
    """

    to: Path
    overwrite: bool = False


@method("file.move", raises=(*PATH_ERRORS, "is_directory", "conflict", "no_space", "too_large"))
class FileMove(FileTarget, Params[Nothing], kw_only=True):
    """Rename a file or directory, or copy and delete it across file systems.

    Sockets and devices cannot be moved to another file system (`invalid_params`).

    Args:
        to: The new path, resolved as `path` is.
        overwrite: Whether an existing file is replaced.
    """

    to: Path
    overwrite: bool = False


@method("file.copy", raises=(*PATH_ERRORS, "is_directory", "conflict", "no_space", "too_large"))
class FileCopy(FileTarget, Params[FileCopyResult], kw_only=True):
    """Copy a file, a symlink or a directory.

    Modes, times, symlinks and, where allowed, owners are kept. The copy appears at `to` when it is complete. A
    directory never replaces anything.

    Args:
        to: The path of the copy, resolved as `path` is.
        recursive: Whether to copy a directory and everything in it; otherwise a directory is `is_directory`.
        overwrite: Whether an existing file is replaced by a file; otherwise it is `conflict`.
    """

    to: Path
    recursive: bool = False
    overwrite: bool = False


@method("file.search", events={"matches": SearchMatches, "failed": FileFailure}, raises=(*PATH_ERRORS, "too_large"))
class FileSearch(FileTarget, Params[FileSearchResult], kw_only=True):
    """Find files by name, or lines in files that match a pattern.

    A match does not span lines. Binary files are skipped, ignore files such as .gitignore are not used. A pattern whose
    automaton is too large is `too_large`.

    Args:
        pattern: What to search for in files, in RE2's syntax; null: find the files themselves.
        literal: Whether `pattern` is plain text rather than a regular expression.
        ignore_case: Whether upper and lower case are the same.
        hidden: Whether to include names that begin with a dot.
        include: Globs of what to include: a name at any depth or, with a slash, a path. Null: everything.
        exclude: Globs of what to exclude, with everything below it. Null: nothing.
        limit: Number of matches after which the search ends.
    """

    pattern: Pattern | None = None
    literal: bool = False
    ignore_case: bool = False
    hidden: bool = True
    include: Globs | None = None
    exclude: Globs | None = None
    limit: Limit = 1000


@method("file.archive", events={"opened": FileArchiveOpened}, output=("content",), raises=(*PATH_ERRORS, "too_large"))
class FileArchive(FileTarget, Params[FileArchiveResult], kw_only=True):
    """Stream a directory, or a file, as an archive.

    The archive is made while it is sent, so it cannot be resumed. Symlinks stay symlinks. A file that cannot be read is
    left out, and one that becomes shorter is filled with zeros. A zip has at most 100,000 entries (`too_large`).

    Args:
        format: Format of the archive.
        include: Globs of what to include: a name at any depth or, with a slash, a path. Null: everything.
        exclude: Globs of what to exclude, with everything below it. Null: nothing.
    """

    format: ArchiveFormat = "tar.gz"
    include: Globs | None = None
    exclude: Globs | None = None
