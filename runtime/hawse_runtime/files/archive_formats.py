"""Writes archives incrementally: tar, tar.gz and zip. Only a zip's central directory is kept in memory."""

import os
import stat
import tarfile
import time
import zipfile
import zlib
from typing import IO, Protocol

from hawse.api.files import ArchiveFormat
from hawse.wire import HawseError

ZIP_LIMIT = 100_000  # maximum number of entries in a zip, whose central directory repeats every name
_TAR_TYPES = {
    stat.S_IFREG: tarfile.REGTYPE,
    stat.S_IFDIR: tarfile.DIRTYPE,
    stat.S_IFLNK: tarfile.SYMTYPE,
    stat.S_IFIFO: tarfile.FIFOTYPE,
}
_GZIP = 16 + zlib.MAX_WBITS
_EARLIEST, _LATEST = 315_532_800, 4_354_819_198  # seconds since 1970; zip files can store times from 1980 to 2107


class ArchiveWriter(Protocol):
    """An object that accepts entries one after the other. `take` returns the archive bytes produced so far."""

    def begin(self, name: str, status: os.stat_result, target: str | None) -> bool:
        """Start an entry. A regular file is `status.st_size` bytes long. Return False if the type can't be stored."""
        ...

    def content(self, data: bytes) -> None: ...

    def end(self) -> None:
        """Finish the entry."""
        ...

    def finish(self) -> None:
        """Finish the archive."""
        ...

    def take(self) -> bytes:
        """Return the bytes produced since the last call."""
        ...

    @property
    def pending(self) -> int:
        """The number of bytes that `take` would return."""
        ...


def packer(format_: ArchiveFormat) -> ArchiveWriter:
    return ZipWriter() if format_ == "zip" else TarWriter(compressed=format_ == "tar.gz")


class TarWriter:
    """Writes the GNU tar format. Names and targets can be bytes of any length, and sizes are not limited."""

    def __init__(self, *, compressed: bool) -> None:
        self._gzip = zlib.compressobj(6, zlib.DEFLATED, _GZIP) if compressed else None
        self._out = bytearray()
        self._size = 0  # size of the uncompressed archive in bytes
        self._entry = 0  # size of the current entry's content in bytes

    def begin(self, name: str, status: os.stat_result, target: str | None) -> bool:
        kind = _TAR_TYPES.get(stat.S_IFMT(status.st_mode))
        if kind is None:
            return False
        info = tarfile.TarInfo(name)
        info.type = kind
        info.mode = stat.S_IMODE(status.st_mode)
        info.uid, info.gid = status.st_uid, status.st_gid
        info.mtime = int(status.st_mtime)
        info.size = status.st_size if kind == tarfile.REGTYPE else 0
        info.linkname = target or ""
        self._write(info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))
        self._entry = 0
        return True

    def content(self, data: bytes) -> None:
        self._entry += len(data)
        self._write(data)

    def end(self) -> None:
        self._write(bytes(-self._entry % tarfile.BLOCKSIZE))

    def finish(self) -> None:
        self._write(bytes(2 * tarfile.BLOCKSIZE))
        self._write(bytes(-self._size % tarfile.RECORDSIZE))
        if self._gzip is not None:
            self._out += self._gzip.flush()

    def take(self) -> bytes:
        out, self._out = bytes(self._out), bytearray()
        return out

    @property
    def pending(self) -> int:
        return len(self._out)

    def _write(self, data: bytes) -> None:
        self._size += len(data)
        self._out += self._gzip.compress(data) if self._gzip is not None else data


class ZipWriter:
    """Writes a zip with deflate compression and UTF-8 names. Bytes that aren't valid UTF-8 are written as %XX."""

    def __init__(self) -> None:
        self._sink = _Sink()
        self._zip = zipfile.ZipFile(self._sink, "w", zipfile.ZIP_DEFLATED)
        self._entry: IO[bytes] | None = None

    def begin(self, name: str, status: os.stat_result, target: str | None) -> bool:
        mode = status.st_mode
        if len(self._zip.filelist) >= ZIP_LIMIT:
            raise HawseError("too_large", f"a zip can have at most {ZIP_LIMIT} entries; use a tar", admitted="yes")
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            return False
        date = time.gmtime(min(max(status.st_mtime, _EARLIEST), _LATEST))[:6]
        info = zipfile.ZipInfo(_text(name) + ("/" if stat.S_ISDIR(mode) else ""), date)
        info.external_attr = (mode & 0xFFFF) << 16 | (0x10 if stat.S_ISDIR(mode) else 0)
        info.compress_type = zipfile.ZIP_DEFLATED if stat.S_ISREG(mode) else zipfile.ZIP_STORED
        if stat.S_ISREG(mode):
            info.file_size = status.st_size
            self._entry = self._zip.open(info, "w", force_zip64=status.st_size >= 1 << 30)
        else:
            self._zip.writestr(info, os.fsencode(target or ""))
        return True

    def content(self, data: bytes) -> None:
        assert self._entry is not None
        self._entry.write(data)

    def end(self) -> None:
        entry, self._entry = self._entry, None
        if entry is not None:
            entry.close()

    def finish(self) -> None:
        self._zip.close()

    def take(self) -> bytes:
        return self._sink.take()

    @property
    def pending(self) -> int:
        return len(self._sink.out)


class _Sink:
    """A write-only file object."""

    def __init__(self) -> None:
        self.out = bytearray()

    def write(self, data: bytes, /) -> int:
        self.out += data
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def take(self) -> bytes:
        out, self.out = bytes(self.out), bytearray()
        return out


def _text(name: str) -> str:
    return "".join(f"%{ord(c) - 0xDC00:02X}" if 0xDC80 <= ord(c) <= 0xDCFF else c for c in name)
