"""Files: the `file.*` methods. Paths are encoded as described in `hawse.api.paths`."""

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
Depth = Annotated[int, Meta(ge=1)]  # number of directory levels
Limit = Annotated[int, Meta(ge=1, le=100_000)]  # maximum number of matches
ArchiveFormat = Literal["tar", "tar.gz", "zip"]


class FileTarget(ParamsValue, kw_only=True):
    """The path for a file method.

    With `root`, the error is `permission_denied` if the path leaves this directory, for example through `..` or a
    symlink.

    Args:
        path: The file or directory. A relative path is resolved against `root` if set, or else against the workspace.
        root: Directory that the path cannot leave; null means the root that the runtime was started with, if any.
        session: Id of a session. Relative paths are resolved against its current directory, not the workspace. If the
            session has ended, the error is `exited`.
    """

    path: Path
    root: Path | None = None
    session: Id | None = None


class FileOpened(Reply, frozen=True, kw_only=True):
    """The file is open for reading.

    Attributes:
        size: Size of the file, in bytes; 0 for files without a size, as in /proc.
        version: Identifies the file's content by device, inode, size and modification time.
        mode: Permission bits.
        mtime: Modification time, in seconds since 1970.
    """

    size: int
    version: str
    mode: int
    mtime: float


class FileWriteOpened(Reply, frozen=True, kw_only=True):
    """The upload has started or been resumed.

    Attributes:
        input_offset: Number of input bytes that have already been received.
    """

    input_offset: int = 0


class FileTransferResult(Reply, frozen=True, kw_only=True):
    """The transfer is complete.

    Attributes:
        bytes: Number of bytes read or written.
        version: Identifies the file's content.
    """

    bytes: int
    version: str


class FileEntry(Reply, frozen=True, kw_only=True):
    """A file, a directory or another directory entry.

    Attributes:
        path: Path of the entry.
        type: Type of the entry.
        size: Size, in bytes.
        mode: Permission bits.
        mtime: Modification time, in seconds since 1970.
        uid: User id of the owner.
        gid: Group id of the owning group.
        target: Target of a symlink that was not followed; null otherwise.
        mtime_ns: Exact modification time, in nanoseconds since 1970.
        allocated: Disk space allocated, in bytes; less than `size` for a file with holes. Null if the server does not
            report it.
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
        version: Identifies the file's content.
        mime: With `detect`: MIME type, such as `image/png`, detected from the name or, failing that, from the content.
            Null unless it is a file.
        binary: With `detect`: whether the content is not valid UTF-8 text. Null unless it is a file.
    """

    version: str | None = None
    mime: str | None = None
    binary: bool | None = None


class FileExistsResult(Reply, frozen=True, kw_only=True):
    """Whether a path exists.

    Attributes:
        exists: Whether there is a file, directory or other entry at the path.
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
    """A path could not be read; the call continues with the others.

    Attributes:
        path: The path, relative to the path passed to the call.
        code: The error code.
        message: Human-readable description of the error.
    """

    path: str
    code: str
    message: str


class FileListResult(Reply, frozen=True, kw_only=True):
    """The listing is complete.

    Attributes:
        entries: Number of entries sent.
        failed: Number of paths that couldn't be read.
    """

    entries: int
    failed: int


class FileMkdirResult(Reply, frozen=True, kw_only=True):
    """The directory exists.

    Attributes:
        created: Whether it was created by this call.
    """

    created: bool


class FileDeleteResult(Reply, frozen=True, kw_only=True):
    """The path was deleted.

    Attributes:
        deleted: Number of files and directories deleted.
    """

    deleted: int


class FileCopyResult(Reply, frozen=True, kw_only=True):
    """The copy is complete.

    Attributes:
        files: Number of files copied.
        bytes: Total size of the files copied, in bytes, including holes.
        skipped: Number of sockets and devices skipped.
    """

    files: int
    bytes: int
    skipped: int


class SearchMatch(Reply, frozen=True, kw_only=True):
    """A matching file, or a matching line in a file.

    Attributes:
        path: Path of the file, relative to the directory searched.
        line: Line number, starting at 1; null if the match is the file itself.
        text: The line, truncated to 2,000 bytes; null if the match is the file itself.
        spans: Start and end of each match in `text`, in characters; at most 100 matches.
        truncated: Whether `text` was truncated.
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
        matches: Number of matches sent.
        truncated: Whether there were more matches than the limit.
        failed: Number of paths that couldn't be read.
    """

    matches: int
    truncated: bool
    failed: int


class FileArchiveOpened(Reply, frozen=True, kw_only=True):
    """The archive is being sent.

    Attributes:
        name: A suitable file name for the archive.
    """

    name: str


class FileArchiveResult(Reply, frozen=True, kw_only=True):
    """The archive is complete.

    Attributes:
        bytes: Size of the archive, in bytes.
        files: Number of entries in the archive.
        failed: Number of paths that are missing or incomplete in the archive because they could not be read.
        skipped: Number of sockets and devices skipped.
    """

    bytes: int
    files: int
    failed: int
    skipped: int


EDITS_MAX = 1000  # maximum number of replacements per call


class TextEdit(ParamsValue, kw_only=True):
    """A replacement of one string with another.

    Args:
        old: The text to replace, exactly as it is in the file.
        new: The replacement.
        all: Whether to replace every occurrence; otherwise `old` must occur exactly once.
    """

    old: Annotated[str, Meta(min_length=1)]
    new: str
    all: bool = False


class FileEditResult(Reply, frozen=True, kw_only=True):
    """The file was changed.

    Attributes:
        bytes: Size of the file, in bytes.
        version: Its version.
        replaced: Number of changes made: strings replaced or hunks applied.
    """

    bytes: int
    version: str
    replaced: int


MaxEntries = Annotated[int, Meta(ge=1, le=1_000_000)]
MaxBytes = Annotated[int, Meta(ge=1, le=1 << 40)]
Strip = Annotated[int, Meta(ge=0, le=100)]  # number of leading path components to remove


class FileExtractProgress(Reply, frozen=True, kw_only=True):
    """Progress of the extraction, sent a few times per second.

    Attributes:
        entries: Number of entries extracted.
        bytes: Number of bytes written to files.
    """

    entries: int
    bytes: int


class FileExtractResult(Reply, frozen=True, kw_only=True):
    """The archive was extracted.

    Attributes:
        entries: Number of entries extracted.
        bytes: Number of bytes written to files.
        skipped: Number of devices and FIFOs skipped.
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
    """Stream the bytes of a file, or part of it.

    Offsets in the byte stream are offsets in the file. Bytes appended during the call are not read. If the file does
    not have the requested version, or is truncated during the call, the error is `conflict`.

    Args:
        offset: Offset of the first byte to read; null means 0.
        length: Number of bytes to read; null reads to the end.
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
    """Write the call's input to a file, replacing it atomically.

    The old file remains until all input has been received. The new file gets the old file's permission bits, unless
    `mode` is set, and the old file's owner where permitted. If the path is a symlink, its target is replaced.

    With an idempotency key, an upload that loses its connection waits up to 30 seconds for a call that resumes it. If
    it is resumed, the earlier call ends with `interrupted`; otherwise, the upload ends with `cancelled`.

    Args:
        input: Id of the input stream, which every call that resumes the upload must reuse.
        mode: Permission bits; null keeps the bits of the replaced file.
        parents: Whether to create missing parent directories; null means true.
        if_version: The version that the file must have; empty if it must not exist, null for any. If it differs, the
            error is `conflict`, with the actual `version` in `details`.
        offset: Offset where writing in place starts; 0 creates the file if it is missing. If the file is shorter, the
            error is `conflict`. Null replaces the file.
        mtime_ns: Modification time to set, in nanoseconds since 1970; null means the current time.
        sparse: Whether to turn blocks of zeros into holes.
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
    """Abort an upload. It is not an error if the upload has already received all its input, has ended or never existed.

    Args:
        key: The idempotency key of the `file.write` call.
    """

    key: Annotated[str, Meta(min_length=1, max_length=128)]


@method("file.stat", requires=WRITE, safe=True, raises=FILE_ERRORS)
class FileStat(FileTarget, Params[FileStatResult], kw_only=True):
    """Describe a file or directory.

    Args:
        follow: Whether to follow a symlink instead of describing the symlink itself.
        detect: Whether to read the start of a file to fill in `mime` and `binary`.
    """

    follow: bool = True
    detect: bool = False


@method("file.exists", requires=WRITE, safe=True, raises=("not_found", "permission_denied", "io_error", "exited"))
class FileExists(FileTarget, Params[FileExistsResult], kw_only=True):
    """Check whether a path exists, and return its type.

    Unless `follow` is false, a dangling symlink counts as missing.

    Args:
        follow: Whether to follow a symlink instead of checking for the symlink itself.
    """

    follow: bool = True


@method(
    "file.list", audit=False, requires=WRITE, events={"entries": FileEntries, "failed": FileFailure}, raises=FILE_ERRORS
)
class FileList(FileTarget, Params[FileListResult], kw_only=True):
    """List a directory in batches, in no particular order.

    Symlinks are listed but not followed. Directories nested more than 128 levels deep are not listed; they are reported
    as `failed` with the code `too_large`.

    Args:
        recursive: Whether to list subdirectories as well.
        depth: Maximum number of levels to list with `recursive`; null means all.
        hidden: Whether to include names that start with a dot.
        include: Globs for files to include. A glob without a slash matches names at any depth. Null includes all files.
        exclude: Globs for files and directories to exclude. Null excludes nothing.
    """

    recursive: bool = False
    depth: Depth | None = None
    hidden: bool = True
    include: Globs | None = None
    exclude: Globs | None = None


@method("file.mkdir", requires=WRITE, raises=(*FILE_ERRORS, "conflict", "no_space"))
class FileMkdir(FileTarget, Params[FileMkdirResult], kw_only=True):
    """Create a directory.

    If the path exists, the error is `conflict`, unless it is a directory and `parents` is true.

    Args:
        parents: Whether to create missing parent directories and accept an existing directory.
        mode: Permission bits; null means 0777 minus the umask.
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
    """Set the modification time of a file, directory or symlink.

    Args:
        mtime_ns: The time, in nanoseconds since 1970.
        follow: Whether to follow a symlink instead of changing the symlink's own time.
    """

    mtime_ns: Nanoseconds
    follow: bool = True


@method("file.symlink", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space"))
class FileSymlink(FileTarget, Params[Nothing], kw_only=True):
    """Create a symlink.

    Args:
        target: The path that the symlink points to. It is stored unchanged and doesn't have to exist.
        overwrite: Whether to replace an existing file or symlink, atomically. If false and the path exists, the error
            is `conflict`.
    """

    target: Path
    overwrite: bool = False


@method("file.delete", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "too_large"))
class FileDelete(FileTarget, Params[FileDeleteResult], kw_only=True):
    """Delete a file, symlink or directory; symlinks are not followed.

    If a path below a directory cannot be deleted, the call stops there, and `details.path` names that path.

    Args:
        recursive: Whether to delete a directory and everything in it. If false and the path is a directory, the error
            is `is_directory`.
    """

    recursive: bool = False


@method("file.rename", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space"))
class FileRename(FileTarget, Params[Nothing], kw_only=True):
    """Rename a file or directory within its file system, atomically.

    If `to` exists and `overwrite` is false, the error is `conflict`. If `to` is on another file system, the error is
    `invalid_params`.

    Args:
        to: The new path, resolved in the same way as `path`.
        overwrite: Whether to replace an existing file.
    """

    to: Path
    overwrite: bool = False


@method("file.move", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space", "too_large"))
class FileMove(FileTarget, Params[Nothing], kw_only=True):
    """Rename a file or directory, or copy and delete it across file systems.

    Sockets and devices cannot be moved to another file system (`invalid_params`).

    Args:
        to: The new path, resolved in the same way as `path`.
        overwrite: Whether to replace an existing file.
    """

    to: Path
    overwrite: bool = False


@method("file.copy", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space", "too_large"))
class FileCopy(FileTarget, Params[FileCopyResult], kw_only=True):
    """Copy a file, symlink or directory.

    Modes, timestamps, symlinks and, where allowed, owners are preserved. The copy appears at `to` once it is complete.
    A directory never replaces an existing path.

    Args:
        to: The path of the copy, resolved in the same way as `path`.
        recursive: Whether to copy a directory and everything in it. If false and the path is a directory, the error is
            `is_directory`.
        overwrite: Whether a file can replace an existing file. If false and `to` exists, the error is `conflict`.
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
    """Find files by name, or find lines that match a pattern.

    Matches do not span lines. Binary files are skipped. Ignore files such as .gitignore have no effect. If the
    pattern's automaton is too large, the error is `too_large`.

    Args:
        pattern: Pattern to search for in files, in RE2 syntax; null finds the files themselves.
        literal: Whether `pattern` is plain text rather than a regular expression.
        ignore_case: Whether to ignore case.
        hidden: Whether to include names that start with a dot.
        words: Strings that a file's path must all contain, in any order and ignoring case. Null accepts any path.
        include: Globs for files to include. A glob without a slash matches names at any depth. Null includes all files.
        exclude: Globs for files and directories to exclude. Null excludes nothing.
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
    """Stream a directory or file as an archive.

    The archive is created on the fly, so the download cannot be resumed. Symlinks remain symlinks. Unreadable files are
    skipped, and a file that shrinks is padded with zeros. A zip archive can have at most 100,000 entries (`too_large`).

    Args:
        format: Format of the archive.
        include: Globs for files to include. A glob without a slash matches names at any depth. Null includes all files.
        exclude: Globs for files and directories to exclude. Null excludes nothing.
    """

    format: ArchiveFormat = "tar.gz"
    include: Globs | None = None
    exclude: Globs | None = None


@method("file.edit", requires=WRITE, raises=(*FILE_ERRORS, "is_directory", "conflict", "no_space", "too_large"))
class FileEdit(FileTarget, Params[FileEditResult], kw_only=True):
    """Replace strings in a file or apply a patch to it. Either all changes are applied, or none are.

    Set exactly one of `edits` and `patch`. If an edit's `old` text does not occur, or occurs more than once and `all`
    is not set, the error is `conflict`, with the index of the edit (`edit`) and the number of occurrences (`found`) in
    `details`. If the lines of a hunk are neither at the stated line nor at exactly one other line, the error is
    `conflict`, with the hunk's index (`hunk`) and the number of places where it matches (`found`) in `details`. If the
    file does not have the version `if_version`, or is changed during the call, the error is also `conflict`. The
    maximum file size is 16 MiB.

    Args:
        edits: Replacements, applied in order.
        patch: A unified diff of this file. File names in it are ignored.
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
    """Extract an archive file in the sandbox: zip, or tar, optionally compressed with gzip, bzip2, xz or zstd.

    Nothing is written outside `to`. If an entry is absolute, leaves `to` through `..` or a symlink, or is a symlink to
    a target outside `to`, the error is `permission_denied`, with the entry's name in `details.entry`. Owners and
    special permission bits such as set-user-ID are not restored. Files extracted before an error or cancellation are
    kept. If the archive is damaged, truncated or encrypted, the error is `invalid_params`. If it expands to more than 1
    GiB and more than 200 times its size, the error is `too_large`. If the archive needs zstd and the runtime lacks it,
    the error is `unavailable`. If several entries have the same name, the last one wins.

    Args:
        to: The directory to extract to, which is created if it is missing; resolved like `path`.
        overwrite: Whether to replace existing files. If false and a file already exists, the error is `conflict`.
        strip: Number of leading components to remove from each name. Entries with fewer components are skipped.
        max_entries: Maximum number of entries. If the archive has more, the error is `too_large`.
        max_bytes: Maximum total size of the extracted files, in bytes. If it is exceeded, the error is `too_large`.
    """

    to: Path = "."
    overwrite: bool = False
    strip: Strip = 0
    max_entries: MaxEntries = 100_000
    max_bytes: MaxBytes = 4 << 30
