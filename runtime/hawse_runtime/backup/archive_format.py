"""The archive format for backups: a tar with PAX headers (POSIX.1-2001), which preserve all of an entry's attributes.

Names and targets can contain any bytes, and times are exact. Extended attributes are `SCHILY.xattr.NAME` records, as in
GNU tar and bsdtar. Sparse files are stored in GNU tar's format "PAX sparse 1.0".
"""

import hashlib
import os
import stat
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Final, Literal, Protocol

from hawse import zstd

XATTR: Final = "SCHILY.xattr."
SPARSE_NAME: Final = "GNUSparseFile.0"
GZIP_LEVEL: Final = 3  # level 6 takes twice as long and saves only 3 percent
_GZIP: Final = 16 + zlib.MAX_WBITS
_TYPES: Final = {
    stat.S_IFREG: tarfile.REGTYPE,
    stat.S_IFDIR: tarfile.DIRTYPE,
    stat.S_IFLNK: tarfile.SYMTYPE,
    stat.S_IFIFO: tarfile.FIFOTYPE,
}

Compression = Literal["none", "gzip", "zstd"]
Extent = tuple[int, int]  # offset and length of a file's data range, in bytes


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def _compressor(compression: Compression) -> _Compressor | None:
    match compression:
        case "none":
            return None
        case "gzip":
            return zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, _GZIP)
        case "zstd":
            return zstd.Compressor()


def has_type(status: os.stat_result) -> bool:
    """Return whether the archive format supports this type of file."""
    return stat.S_IFMT(status.st_mode) in _TYPES


class BackupArchive:
    """Builds an archive from entries, one after the other. `take` returns the bytes produced so far."""

    def __init__(self, compression: Compression = "none") -> None:
        """Start an archive. Raises `HawseError` (`unavailable`) if the runtime doesn't support this compression."""
        self._compressor = _compressor(compression)
        self._out = bytearray()
        self._written = 0  # number of bytes written, before compression
        self._digest = hashlib.sha256()
        self.size = 0  # total bytes returned by `take`

    @property
    def pending(self) -> int:
        """The number of bytes that `take` would return."""
        return len(self._out)

    @property
    def sha256(self) -> str:
        """The hexadecimal digest of all bytes returned by `take`."""
        return self._digest.hexdigest()

    def begin(
        self,
        name: str,
        status: os.stat_result,
        *,
        target: str = "",
        xattrs: Mapping[str, bytes] | None = None,
        extents: Sequence[Extent] | None = None,
    ) -> None:
        """Start an entry. The content added next must be exactly as long as `status.st_size` or, if set, all `extents`.

        Args:
            name: The entry's path.
            status: The entry's type, mode, owner, time and size.
            target: A symlink's target.
            xattrs: The entry's extended attributes.
            extents: A sparse file's data ranges; None for other files.
        """
        info = _info(name, status, _TYPES[stat.S_IFMT(status.st_mode)])
        info.linkname = target
        found = {XATTR + key: value.decode("utf-8", "surrogateescape") for key, value in (xattrs or {}).items()}
        info.pax_headers = {**info.pax_headers, **found}
        if info.type != tarfile.REGTYPE or extents is None:
            self._header(info)
            return
        if sum((extents or [(0, 0)])[-1]) < status.st_size:
            extents = [*extents, (status.st_size, 0)]  # GNU tar reads the file size from the last extent
        head = sparse_map(extents)
        info.pax_headers = {
            **info.pax_headers,
            "GNU.sparse.major": "1",
            "GNU.sparse.minor": "0",
            "GNU.sparse.name": name,
            "GNU.sparse.realsize": str(status.st_size),
        }
        info.name = SPARSE_NAME
        info.size = len(head) + sum(length for _, length in extents)
        self._header(info)
        self.content(head)

    def link(self, name: str, status: os.stat_result, earlier: str) -> None:
        """Add another name for the file stored under the name `earlier`."""
        info = _info(name, status, tarfile.LNKTYPE)
        info.linkname = earlier
        self._header(info)

    def content(self, data: bytes) -> None:
        self._written += len(data)
        self._out += self._compressor.compress(data) if self._compressor is not None else data

    def end(self) -> None:
        """Finish an entry's content."""
        self.content(bytes(-self._written % tarfile.BLOCKSIZE))

    def finish(self) -> None:
        """Finish the archive."""
        self.content(bytes(2 * tarfile.BLOCKSIZE))
        if self._compressor is not None:
            self._out += self._compressor.flush()

    def take(self) -> bytes:
        """Return the bytes produced since the last call."""
        out, self._out = bytes(self._out), bytearray()
        self._digest.update(out)
        self.size += len(out)
        return out

    def _header(self, info: tarfile.TarInfo) -> None:
        self.content(info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape"))


def sparse_map(extents: Sequence[Extent]) -> bytes:
    """Return the map that precedes a sparse file's data (GNU tar manual, "PAX 1.0")."""
    numbers = [len(extents), *(number for extent in extents for number in extent)]
    data = b"".join(b"%d\n" % number for number in numbers)
    return data + bytes(-len(data) % tarfile.BLOCKSIZE)


def _info(name: str, status: os.stat_result, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.mode = stat.S_IMODE(status.st_mode)
    info.uid, info.gid = status.st_uid, status.st_gid
    info.size = status.st_size if kind == tarfile.REGTYPE else 0
    info.mtime = status.st_mtime_ns // 10**9
    seconds, nanoseconds = divmod(abs(status.st_mtime_ns), 10**9)
    info.pax_headers = {"mtime": f"{'-' * (status.st_mtime_ns < 0)}{seconds}.{nanoseconds:09}"}
    return info


def mtime_ns(info: tarfile.TarInfo) -> int:
    """Return an archive entry's modification time, in nanoseconds since 1970."""
    text = info.pax_headers.get("mtime", str(int(info.mtime)))
    seconds, _, fraction = text.removeprefix("-").partition(".")
    time = int(seconds) * 10**9 + int(fraction[:9].ljust(9, "0"))
    return -time if text.startswith("-") else time


def xattrs_of(info: tarfile.TarInfo) -> dict[str, bytes]:
    """Return an archive entry's extended attributes."""
    found = info.pax_headers.items()
    return {
        key.removeprefix(XATTR): value.encode("utf-8", "surrogateescape")
        for key, value in found
        if key.startswith(XATTR)
    }
