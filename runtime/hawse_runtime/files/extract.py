"""`file.extract`: unpacks an archive into a directory. Nothing can be written outside that directory."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Final

from hawse.api.files import FileExtract, FileExtractProgress, FileExtractResult
from hawse.api.paths import to_text
from hawse.wire import HawseError
from hawse_runtime.files.archive_reader import ArchiveEntry, entries
from hawse_runtime.files.atomic_replace import make_parents
from hawse_runtime.files.quota import Quota
from hawse_runtime.files.read import open_regular
from hawse_runtime.files.rooted_path import RootedPath, open_beneath
from hawse_runtime.files.walk import Turns
from hawse_runtime.rpc.generator_stream import StreamEvent, Work

PROGRESS_INTERVAL: Final = 0.25  # minimum number of seconds between events
DEPTH_MAX: Final = 128  # maximum directory depth; the same as for listings
TIME_MAX: Final = float(1 << 33)  # seconds since 1970; any later time is invalid
_DIRECTORY: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_READABLE: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

Names = tuple[str, ...]


def extract(place: RootedPath, target: RootedPath, params: FileExtract, quota: Quota) -> Work:
    """Extract the archive, yielding `progress` events. Raises the errors documented in `FileExtract`."""
    archive, _ = open_regular(place.open)
    try:
        root = _opened(target)
        try:
            return (yield from _Extraction(root, params, quota).run(archive))
        finally:
            os.close(root)
    finally:
        os.close(archive)


def _opened(target: RootedPath) -> int:
    """Open a directory, creating it and its parents if missing."""
    with suppress(FileNotFoundError):
        return target.open(_DIRECTORY)
    make_parents(target)
    with suppress(FileExistsError), target.parent() as (fd, name):
        os.mkdir(name, dir_fd=fd)
    return target.open(_DIRECTORY)


class _Extraction:
    """The state of an extraction."""

    def __init__(self, root: int, params: FileExtract, quota: Quota) -> None:
        self._root = root
        self._params = params
        self._quota = quota
        self._turns = Turns()
        self._reports = Turns(PROGRESS_INTERVAL)
        self._entries = self._bytes = self._skipped = self._seen = 0
        self._own: set[int] = set()  # inodes of extracted files; later entries with the same name replace these files
        self._device = os.fstat(root).st_dev
        self._directories: dict[Names, ArchiveEntry] = {}  # directories whose modes and times will be set at the end
        self._symlinks: list[Names] = []  # symlinks to check at the end, once all their targets exist

    def run(self, archive: int) -> Work:
        try:
            with closing(entries(archive)) as found:  # type: ignore[type-var]
                for entry in found:
                    self._seen += 1
                    if self._seen > self._params.max_entries:
                        raise HawseError("too_large", f"the archive has more than {self._params.max_entries} entries")
                    yield from self._add(entry)
                    yield from self._pause()
        except BaseException:  # keep extracted files, but not symlinks that lead out of the directory
            for names in self._symlinks:
                with suppress(HawseError, OSError):
                    self._check(names)
            raise
        for names in self._symlinks:
            self._check(names)
        for names, entry in reversed(self._directories.items()):
            with suppress(OSError):
                self._finish(
                    open_beneath(self._root, "/".join(names), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW), entry
                )
        return FileExtractResult(entries=self._entries, bytes=self._bytes, skipped=self._skipped)

    def _pause(self) -> Iterator[StreamEvent | None]:
        if self._reports.due():
            yield StreamEvent("progress", FileExtractProgress(entries=self._entries, bytes=self._bytes))
        elif self._turns.due():
            yield None

    def _add(self, entry: ArchiveEntry) -> Iterator[StreamEvent | None]:
        names = _parts(entry.name, entry.name)[self._params.strip :]
        if entry.kind == "special":
            self._skipped += 1
            return
        if not names:
            return
        try:
            yield from self._place(names, entry)
        except NotADirectoryError:
            text = to_text(entry.name)
            why = f"{text} is below something that is not a directory"
            raise HawseError("conflict", why, admitted="yes", details={"entry": text}) from None
        self._entries += 1

    def _place(self, names: Names, entry: ArchiveEntry) -> Iterator[StreamEvent | None]:
        if entry.kind == "directory":
            self._replace_file(names)
            os.close(self._directory(names))
            self._directories[names] = entry
        elif entry.kind != "link" or names != self._source(entry):  # tar can store a link to itself
            with self._parent(names, entry) as folder:
                if entry.kind == "file":
                    yield from self._file(folder, names[-1], entry)
                elif entry.kind == "symlink":
                    self._symlink(folder, names, entry)
                else:
                    self._link(folder, names[-1], entry)
                self._own.add(os.stat(names[-1], dir_fd=folder, follow_symlinks=False).st_ino)

    # ---- entries

    def _file(self, folder: int, name: str, entry: ArchiveEntry) -> Iterator[StreamEvent | None]:
        fd = os.open(name, _NEW, 0o600, dir_fd=folder)
        try:
            while data := entry.read():
                self._bytes += len(data)
                if self._bytes > self._params.max_bytes:
                    raise HawseError("too_large", f"the archive expands to over {self._params.max_bytes} bytes")
                self._quota.add(len(data))
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(fd, rest) :]
                yield from self._pause()
        except BaseException:
            os.close(fd)
            os.unlink(name, dir_fd=folder)
            raise
        self._finish(fd, entry)

    def _symlink(self, folder: int, names: Names, entry: ArchiveEntry) -> None:
        inside = os.path.normpath(os.path.join(*names[:-1], entry.target))
        if not entry.target or "\0" in entry.target or inside.startswith(("/", "../")) or inside == "..":
            raise _leaves(entry.name, "its target leaves the directory")
        os.symlink(entry.target, names[-1], dir_fd=folder)
        self._symlinks.append(names)

    def _source(self, entry: ArchiveEntry) -> Names:
        return _parts(entry.target, entry.name)[self._params.strip :]

    def _link(self, folder: int, name: str, entry: ArchiveEntry) -> None:
        source = self._source(entry)
        if not source:
            raise _leaves(entry.name, "it is a hard link with an empty target")
        try:
            above = open_beneath(self._root, "/".join(source[:-1]) or ".", _DIRECTORY)
        except FileNotFoundError:
            raise _missing(entry) from None
        try:
            if not stat.S_ISREG(os.stat(source[-1], dir_fd=above, follow_symlinks=False).st_mode):
                raise _leaves(entry.name, "it is a hard link to something that is not a file")
            os.link(source[-1], name, src_dir_fd=above, dst_dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            raise _missing(entry) from None
        finally:
            os.close(above)

    def _finish(self, fd: int, entry: ArchiveEntry) -> None:
        """Set an open file's mode and time, and close it."""
        try:
            if mode := entry.mode & 0o777:
                os.fchmod(fd, mode)
            elif entry.kind == "file":
                os.fchmod(fd, 0o644)  # a zip not created on Unix has no modes
            time = min(max(0.0, entry.mtime), TIME_MAX)  # also replaces NaN with 0
            os.utime(fd, (time, time))
        finally:
            os.close(fd)

    def _check(self, names: Names) -> None:
        """If the symlink leads out of the directory through other symlinks, remove it and raise an error."""
        try:
            os.close(open_beneath(self._root, "/".join(names), os.O_PATH))
        except OSError:
            return  # the target doesn't exist
        except HawseError as error:
            folder = open_beneath(self._root, "/".join(names[:-1]) or ".", _DIRECTORY)
            try:
                os.unlink(names[-1], dir_fd=folder)
            finally:
                os.close(folder)
            raise _leaves("/".join(names), "its target leaves the directory") from error

    # ---- paths

    @contextmanager
    def _parent(self, names: Names, entry: ArchiveEntry) -> Iterator[int]:
        """Open a new entry's parent directory, and remove any file that the entry replaces."""
        folder = self._directory(names[:-1])
        try:
            self._free(folder, names, entry)
            yield folder
        finally:
            os.close(folder)

    def _free(self, folder: int, names: Names, entry: ArchiveEntry) -> None:
        try:
            status = os.stat(names[-1], dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        own = status.st_ino in self._own and status.st_dev == self._device
        if not (own or self._params.overwrite) or stat.S_ISDIR(status.st_mode):
            details = {"entry": to_text(entry.name)}
            raise HawseError("conflict", f"{to_text(entry.name)} exists", admitted="yes", details=details)
        os.unlink(names[-1], dir_fd=folder)

    def _replace_file(self, names: Names) -> None:
        """Remove a file created by an earlier entry, because its name is now needed for a directory."""
        try:
            folder = open_beneath(self._root, "/".join(names[:-1]) or ".", _DIRECTORY)
        except (OSError, HawseError):
            return
        try:
            status = os.stat(names[-1], dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and status.st_ino in self._own and status.st_dev == self._device:
                os.unlink(names[-1], dir_fd=folder)
        except FileNotFoundError:
            pass
        finally:
            os.close(folder)

    def _directory(self, names: Names) -> int:
        """Open a directory below the root, creating it if missing."""
        path = "/".join(names) or "."
        try:
            return open_beneath(self._root, path, _DIRECTORY)
        except FileNotFoundError:
            pass
        except HawseError as error:
            raise _leaves("/".join(names), "it leaves the directory") from error
        above = self._directory(names[:-1])
        try:
            with suppress(FileExistsError):
                os.mkdir(names[-1], dir_fd=above)
        finally:
            os.close(above)
        return open_beneath(self._root, path, _DIRECTORY)


def _parts(name: str, entry: str) -> Names:
    """Split an archive entry's name into components. Raises `permission_denied` if the name leads out of the target."""
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if name.startswith("/") or ".." in parts or "\0" in name:
        raise _leaves(entry, "it leaves the directory")
    if len(parts) > DEPTH_MAX:
        raise HawseError("too_large", f"an entry is more than {DEPTH_MAX} directories deep")
    return parts


def _missing(entry: ArchiveEntry) -> HawseError:
    text = to_text(entry.name[:1000])
    why = f"{text}: it is a hard link to a missing or later entry"
    return HawseError("invalid_params", why, admitted="yes", details={"entry": text})


def _leaves(entry: str, why: str) -> HawseError:
    text = to_text(entry[:1000])
    return HawseError("permission_denied", f"{text}: {why}", admitted="yes", details={"entry": text})
