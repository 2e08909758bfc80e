"""Files: the `file.*` methods. Paths are encoded as `hawse.api.paths` describes."""

from typing import Annotated

from msgspec import Meta

from hawse.api.file_values import (
    ArchiveFormat as ArchiveFormat,
    Depth as Depth,
    FileArchiveOpened as FileArchiveOpened,
    FileArchiveResult as FileArchiveResult,
    FileCopyResult as FileCopyResult,
    FileDeleteResult as FileDeleteResult,
    FileEntries as FileEntries,
    FileEntry as FileEntry,
    FileExistsResult as FileExistsResult,
    FileFailure as FileFailure,
    FileListResult as FileListResult,
    FileMkdirResult as FileMkdirResult,
    FileOpened as FileOpened,
    FileSearchResult as FileSearchResult,
    FileStatResult as FileStatResult,
    FileTarget as FileTarget,
    FileTransferResult as FileTransferResult,
    FileType as FileType,
    FileWriteOpened as FileWriteOpened,
    Glob as Glob,
    Globs as Globs,
    Limit as Limit,
    SearchMatch as SearchMatch,
    SearchMatches as SearchMatches,
    Words as Words,
)
from hawse.api.rights import WRITE
from hawse.api.spec import Nothing, Params, method
from hawse.api.types import FILE_ERRORS, PATH_ERRORS, InputId, Length, Mode, Nanoseconds, Offset, Path, Pattern


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

    The file appears when all input was received; until then the old one stays. It keeps its permission bits unless
    `mode` is given, and its owner where that is allowed. The target of a symlink is replaced.

    With an idempotency key, an upload whose connection was lost waits 30 seconds for a call that continues it; a call
    that is replaced in this way ends with `interrupted`, and one that was given up with `cancelled`.

    Args:
        input: Id of the stream of input, the same for each call that continues the upload.
        mode: Permission bits; null: those of the file that is replaced.
        parents: Whether missing parent directories are created; null: true.
        if_version: The version that the file must have when it is replaced, otherwise `conflict` with its `version` in
            the details; an empty text: it must not exist. Null: any.
        offset: The file is continued from there on, in place (0 creates it); a shorter one is `conflict`. Null: it is
            replaced.
        mtime_ns: Time of the last modification that the file gets, in nanoseconds since 1970; null: the present.
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
        detect: Whether to read the beginning of a file, for `mime` and `binary`.
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


@method("file.mkdir", requires=WRITE, raises=(*FILE_ERRORS, "conflict", "no_space"))
class FileMkdir(FileTarget, Params[FileMkdirResult], kw_only=True):
    """Create a directory.

    An existing path is `conflict`, except a directory if `parents` is true.

    Args:
        parents: Whether missing parent directories are created, and an existing directory is not an error.
        mode: Permission bits; null: those that the umask leaves.
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
        target: What it leads to, which need not exist. It is stored as it is.
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
        pattern: What to search for in files, in RE2's syntax; null: find the files themselves.
        literal: Whether `pattern` is plain text rather than a regular expression.
        ignore_case: Whether upper and lower case are the same.
        hidden: Whether to include names that begin with a dot.
        words: Texts that the path of a file must all contain, in any order and in upper or lower case. Null: any path.
        include: Globs of what to include: a name at any depth or, with a slash, a path. Null: everything.
        exclude: Globs of what to exclude, with everything below it. Null: nothing.
        limit: Number of matches after which the search ends.
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
