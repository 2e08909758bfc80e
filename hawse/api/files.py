"""Files: the `file.*` methods. Paths are encoded as `hawse.api.paths` describes."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.rights import WRITE
from hawse.api.spec import Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import FILE_ERRORS, PATH_ERRORS, Id, InputId, Length, Mode, Nanoseconds, Offset, Path, Pattern

# ---- values


FileType = Literal["file", "directory", "symlink", "fifo", "socket", "device"]
Glob = Annotated[str, Meta(min_length=1, max_length=1024)]
Globs = Annotated[list[Glob], Meta(max_length=100)]
Words = Annotated[list[Annotated[str, Meta(min_length=1, max_length=1024)]], Meta(max_length=32)]
Depth = Annotated[int, Meta(ge=1)]  # levels of directories
Limit = Annotated[int, Meta(ge=1, le=100_000)]  # matches
ArchiveFormat = Literal["tar", "tar.gz", "zip"]


class FileTarget(ParamsValue, kw_only=True):
    """The path of a file method.

    With `root`, a path that leaves it, for example through `..` or a symlink, is `permission_denied`.

    Args:
        path: The file or directory. A relative path starts in `root` if given, otherwise in the workspace.
        root: Directory that the call cannot leave; null means the runtime's own root, if it has one.
        session: Id of a session. Relative paths start in its current directory instead of the workspace; one that has
            ended is `exited`. Null means none.
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
    """The upload has started, or continues.

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
        target: Target of a symlink that was not followed; null otherwise.
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
        mime: Type of the content, such as `image/png`, with `detect`, from the name or otherwise from the content. Null
            unless it is a file.
        binary: Whether the content is not text in UTF-8, with `detect`; null unless it is a file.
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
        skipped: Number of sockets and devices, which are skipped.
    """

    files: int
    bytes: int
    skipped: int


class SearchMatch(Reply, frozen=True, kw_only=True):
    """A file whose name matches, or a matching line.

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
    """The archive has started.

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
        skipped: Number of sockets and devices, which are skipped.
    """

    bytes: int
    files: int
    failed: int
    skipped: int


EDITS_MAX = 1000  # replacements of one call


class TextEdit(ParamsValue, kw_only=True):
    """A replacement of one text by another.

    Args:
        old: The text to replace, exactly as it is in the file.
        new: The text in its place.
        all: Whether to replace every occurrence; otherwise it must occur exactly once.
    """

    old: Annotated[str, Meta(min_length=1)]
    new: str
    all: bool = False


class FileEditResult(Reply, frozen=True, kw_only=True):
    """The file was changed.

    Attributes:
        bytes: Size of the file, in bytes.
        version: Its version.
        replaced: Number of changes: replaced texts, or hunks of the patch.
    """

    bytes: int
    version: str
    replaced: int


MaxEntries = Annotated[int, Meta(ge=1, le=1_000_000)]
MaxBytes = Annotated[int, Meta(ge=1, le=1 << 40)]
Strip = Annotated[int, Meta(ge=0, le=100)]  # components of a path


class FileExtractProgress(Reply, frozen=True, kw_only=True):
    """Progress of the extraction, a few times per second.

    Attributes:
        entries: Entries that were extracted.
        bytes: Bytes of files that were written.
    """

    entries: int
    bytes: int


class FileExtractResult(Reply, frozen=True, kw_only=True):
    """The archive was extracted.

    Attributes:
        entries: Entries that were extracted.
        bytes: Bytes of files that were written.
        skipped: Number of devices and FIFOs, which are skipped.
    """

    entries: int
    bytes: int
    skipped: int


# ---- methods


@method(
    "file.read",
    audit=False,
    requires=WRITE,
    events={"opened": FileOpened},
    output=("content",),
    raises=(*FILE_ERRORS, "is_directory", "conflict"),
)
class FileRead(FileTarget, Params[FileTransferResult], kw_only=True):
    """Stream the bytes of a file, or of a part of it.

    Offsets of the byte stream are offsets in the file. Bytes that are appended during the call are not read.
    `conflict`: the file does not have the requested version, or was truncated in the meantime.

    Args:
        offset: First byte to read; null means 0.
        length: Number of bytes to read; null means to the end.
        version: The version that the file must have; null means any.
    """

    offset: Offset | None = None
    length: Length | None = None
    version: str | None = None


@method(
    "file.write",
    requires=WRITE,
    events={"opened": FileWriteOpened},
    input=True,
    raises=(
        *PATH_ERRORS,
        "is_directory",
        "conflict",
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

    The file appears when all input has been received; until then the old one remains. It keeps its permission bits
    unless `mode` is given, and its owner where permitted. The target of a symlink is replaced.

    With an idempotency key, an upload whose connection was lost waits 30 seconds for a call that continues it. The
    replaced call ends with `interrupted`, an abandoned one with `cancelled`.

    Args:
        input: Id of the stream of input, the same for each call that continues the upload.
        mode: Permission bits; null keeps the bits of the replaced file.
        parents: Whether missing parent directories are created; null means true.
        if_version: The version that the file must have when it is replaced, otherwise `conflict` with its `version` in
            the details; empty if it must not exist. Null means any.
        offset: The file is continued from there on, in place (0 creates it); a shorter one is `conflict`. Null means it
            is replaced.
        mtime_ns: Time of the last modification that the file gets, in nanoseconds since 1970; null means the present.
        sparse: Whether blocks of zeros become holes.
    """

    input: InputId
    mode: Mode | None = None
    parents: bool | None = None
    if_version: str | None = None
    offset: Offset | None = None
    mtime_ns: Nanoseconds | None = None
    sparse: bool = False


@method("file.cancel", requires=WRITE)
class FileCancel(Params[Nothing], kw_only=True):
    """Give up an upload. One that has received all its input, has ended or never existed is not an error.

    Args:
        key: The idempotency key of the `file.write` call.
    """

    key: Annotated[str, Meta(min_length=1, max_length=128)]


@method("file.stat", requires=WRITE, safe=True, raises=FILE_ERRORS)
class FileStat(FileTarget, Params[FileStatResult], kw_only=True):
    """Describe a file or directory.

    Args:
        follow: Whether to follow a symlink rather than describe it.
        detect: Whether to read the start of a file, for `mime` and `binary`.
    """

    follow: bool = True
    detect: bool = False


@method("file.exists", requires=WRITE, safe=True, raises=("not_found", "permission_denied", "io_error", "exited"))
class FileExists(FileTarget, Params[FileExistsResult], kw_only=True):
    """Check whether a path exists, and return its type.

    A symlink whose target does not exist does not exist, unless `follow` is false.

    Args:
        follow: Whether to follow a symlink rather than check for it.
    """

    follow: bool = True


@method(
    "file.list", audit=False, requires=WRITE, events={"entries": FileEntries, "failed": FileFailure}, raises=FILE_ERRORS
)
class FileList(FileTarget, Params[FileListResult], kw_only=True):
    """List a directory in batches, in no particular order.

    Symlinks are listed and not followed. At most 128 nested directories are entered; deeper ones are reported as
    `failed` with `too_large`.

    Args:
        recursive: Whether to list the directories below as well.
        depth: Maximum number of levels to list with `recursive`; null means all.
        hidden: Whether to include names that start with a dot.
        include: Globs of files to include: a name at any depth or, with a slash, a path. Null means all.
        exclude: Globs of files and directories to exclude. Null means none.
    """

    recursive: bool = False
    depth: Depth | None = None
    hidden: bool = True
    include: Globs | None = None
    exclude: Globs | None = None


@method("file.mkdir", requires=WRITE, raises=(*FILE_ERRORS, "conflict", "no_space"))
class FileMkdir(FileTarget, Params[FileMkdirResult], kw_only=True):
    """Create a directory.

    An existing path is `conflict`, except a directory if `parents` is true.

    Args:
        parents: Whether missing parent directories are created, and an existing directory is not an error.
        mode: Permission bits; null means 0777 without the umask.
    """

    parents: bool = False
    mode: Mode | None = None


@method("file.chmod", requires=WRITE, raises=FILE_ERRORS)
class FileChmod(FileTarget, Params[Nothing], kw_only=True):
    """Set the permission bits of a file or directory.

    Args:
        mode: Permission bits.
    """

    mode: Mode


@method("file.utime", requires=WRITE, raises=FILE_ERRORS)
class FileUtime(FileTarget, Params[Nothing], kw_only=True):
    """Set the time of the last modification of a file, a directory or a symlink.

    Args:
        mtime_ns: The time, in nanoseconds since 1970.
        follow: Whether to follow a symlink rather than change its own time.
    """

    mtime_ns: Nanoseconds
    follow: bool = True


@method("file.symlink", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space"))
class FileSymlink(FileTarget, Params[Nothing], kw_only=True):
    """Create a symlink.

    Args:
        target: The path that it points to, which need not exist. It is stored unchanged.
        overwrite: Whether an existing file or symlink is replaced, atomically; otherwise it is `conflict`.
    """

    target: Path
    overwrite: bool = False


@method("file.delete", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "too_large"))
class FileDelete(FileTarget, Params[FileDeleteResult], kw_only=True):
    """Delete a file, a symlink or a directory; symlinks are not followed.

    If a path below a directory cannot be deleted, `details.path` names it, and the rest is left.

    Args:
        recursive: Whether to delete a directory and everything in it; otherwise a directory is `is_directory`.
    """

    recursive: bool = False


@method("file.rename", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space"))
class FileRename(FileTarget, Params[Nothing], kw_only=True):
    """Rename a file or directory within its file system, atomically.

    An existing `to` is `conflict` unless `overwrite` is true; a `to` on another file system is `invalid_params`.

    Args:
        to: The new path, resolved as `path` is.
        overwrite: Whether an existing file is replaced.
    """

    to: Path
    overwrite: bool = False


@method("file.move", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space", "too_large"))
class FileMove(FileTarget, Params[Nothing], kw_only=True):
    """Rename a file or directory, or copy and delete it across file systems.

    Sockets and devices cannot be moved to another file system (`invalid_params`).

    Args:
        to: The new path, resolved as `path` is.
        overwrite: Whether an existing file is replaced.
    """

    to: Path
    overwrite: bool = False


@method("file.copy", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space", "too_large"))
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


@method(
    "file.search",
    audit=False,
    requires=WRITE,
    events={"matches": SearchMatches, "failed": FileFailure},
    raises=(*FILE_ERRORS, "too_large"),
)
class FileSearch(FileTarget, Params[FileSearchResult], kw_only=True):
    """Find files by name, or lines in files that match a pattern.

    A match does not span lines. Binary files are skipped, ignore files such as .gitignore are not used. A pattern whose
    automaton is too large is `too_large`.

    Args:
        pattern: Pattern to search for in files, in RE2's syntax; null finds the files themselves.
        literal: Whether `pattern` is plain text rather than a regular expression.
        ignore_case: Whether upper and lower case are the same.
        hidden: Whether to include names that start with a dot.
        words: Texts that the path of a file must all contain, in any order and in upper or lower case. Null means any
            path.
        include: Globs of files to include: a name at any depth or, with a slash, a path. Null means all.
        exclude: Globs of files and directories to exclude. Null means none.
        limit: Maximum number of matches.
    """

    pattern: Pattern | None = None
    literal: bool = False
    ignore_case: bool = False
    hidden: bool = True
    words: Words | None = None
    include: Globs | None = None
    exclude: Globs | None = None
    limit: Limit = 1000


@method(
    "file.archive",
    requires=WRITE,
    events={"opened": FileArchiveOpened},
    output=("content",),
    raises=(*FILE_ERRORS, "too_large"),
)
class FileArchive(FileTarget, Params[FileArchiveResult], kw_only=True):
    """Stream a directory, or a file, as an archive.

    The archive is created while it is sent, so it cannot be resumed. Symlinks remain symlinks. An unreadable file is
    skipped, and a file that shrinks is padded with zeros. A zip has at most 100,000 entries (`too_large`).

    Args:
        format: Format of the archive.
        include: Globs of files to include: a name at any depth or, with a slash, a path. Null means all.
        exclude: Globs of files and directories to exclude. Null means none.
    """

    format: ArchiveFormat = "tar.gz"
    include: Globs | None = None
    exclude: Globs | None = None


@method("file.edit", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space", "too_large"))
class FileEdit(FileTarget, Params[FileEditResult], kw_only=True):
    """Replace texts in a file, or apply a patch to it, atomically: either all changes are applied or none.

    Exactly one of `edits` and `patch` is given. `conflict`: a text does not occur, or occurs several times without
    `all` (`details`: `edit`, its index, and `found`, the number of occurrences); the lines of a hunk are neither at the
    stated line nor at exactly one other place (`details`: `hunk`, its index, and `found`); the file has another
    version, or was changed in the meantime. The maximum size of a file is 16 MiB.

    Args:
        edits: Replacements, applied in order.
        patch: A unified diff of this one file. Names of files are ignored.
        if_version: The version that the file must have; null means any.
    """

    edits: Annotated[list[TextEdit], Meta(min_length=1, max_length=EDITS_MAX)] | None = None
    patch: Annotated[str, Meta(min_length=1)] | None = None
    if_version: str | None = None


@method(
    "file.extract",
    requires=WRITE,
    events={"progress": FileExtractProgress},
    raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space", "too_large"),
)
class FileExtract(FileTarget, Params[FileExtractResult], kw_only=True):
    """Extract an archive file of the sandbox: zip, or tar, optionally compressed with gzip, bzip2, xz or zstd.

    Nothing is written outside `to`: names that leave it by `..`, through a symlink or because they are absolute, and
    symlinks whose target leaves it, are `permission_denied` (`details.entry`). Owners and special permission bits such
    as set-user-ID are not restored. Files that were extracted before an error or a cancellation remain. A damaged,
    truncated or encrypted archive is `invalid_params`. One that expands to more than 1 GiB and 200 times its size is
    `too_large`; `unavailable` if it needs zstd and the runtime lacks it. If several entries have the same name, the
    last one wins.

    Args:
        to: The directory to extract to, which is created if it is missing; resolved like `path`.
        overwrite: Whether existing files are replaced; otherwise one is `conflict`.
        strip: Number of leading components to remove from each name; entries with no further component are skipped.
        max_entries: Maximum number of entries; more are `too_large`.
        max_bytes: Maximum number of unpacked bytes; more are `too_large`.
    """

    to: Path = "."
    overwrite: bool = False
    strip: Strip = 0
    max_entries: MaxEntries = 100_000
    max_bytes: MaxBytes = 4 << 30
