"""Reads an archive's entries in any supported format, using bounded memory.

Archives are untrusted input. Each step decompresses at most one block, and header sizes are limited.
"""

import bz2
import io
import lzma
import os
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import IO, Any, Final, Literal, NamedTuple, Protocol, cast

from hawse import zstd
from hawse.wire import HawseError

BLOCK: Final = 256 << 10  # number of bytes decompressed at a time
HEADER_MAX: Final = 1 << 20  # maximum size of a single tar header, such as a long name, in bytes
HEADERS_MAX: Final = 2 << 20  # maximum total size of a tar entry's headers, including a sparse file's map, in bytes
DIRECTORY_MAX: Final = 16 << 20  # maximum size of a zip's central directory, in bytes; enough for about 150,000 entries
RATIO_FREE: Final = 1 << 30  # number of decompressed bytes allowed at any compression ratio
RATIO_MAX: Final = 200  # maximum compression ratio beyond RATIO_FREE bytes; gzip reaches 1032 for zeros, 20 for text
XZ_MEMORY: Final = 128 << 20  # maximum memory for decompressing xz, in bytes; `xz -9` needs 65 MiB
LINK_MAX: Final = 4096  # maximum length of a symlink's target, in bytes (PATH_MAX)
_ZIP_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # for other methods, zipfile can't limit the output

Kind = Literal["file", "directory", "symlink", "link", "special"]


class ArchiveEntry(NamedTuple):
    """An archive entry. `read` returns a file's next bytes, at most one block, or b"" at the end of the file."""

    name: str
    kind: Kind
    mode: int
    mtime: float
    target: str = ""  # for a symlink, any path; for a hard link, an earlier entry's name
    read: Callable[[], bytes] = bytes


def entries(fd: int, *, free: int = RATIO_FREE) -> Iterator[ArchiveEntry]:
    """Yield an open archive's entries. Each must be read before the next one is requested.

    Args:
        fd: The archive's descriptor.
        free: The number of bytes that can be decompressed at any compression ratio.

    Raises:
        HawseError: `invalid_params` if the file is not an archive, or is damaged, truncated or encrypted. `too_large`
            if a header is too large or the archive expands to over RATIO_MAX times its size.
    """
    magic = os.pread(fd, 6, 0)
    limit = max(free, RATIO_MAX * os.fstat(fd).st_size)
    with damaged():
        if magic[:4] in (b"PK\3\4", b"PK\5\6"):
            yield from _zip(fd, _Bound(limit))
        else:
            yield from _tar(ArchiveStream(fd, _decoder(magic), _Bound(limit)), _Bound(limit))


def decompressed(fd: int) -> "ArchiveStream":
    """Return a stream of a file's decompressed bytes (gzip, bzip2, xz, zstd or plain) for `tarfile` to read."""
    return ArchiveStream(fd, _decoder(os.pread(fd, 6, 0)))


def next_entry(tar: tarfile.TarFile, stream: "ArchiveStream") -> tarfile.TarInfo | None:
    """Return the next entry from the tar in `stream`, or None at its end."""
    with damaged(), stream.headers():
        member = tar.next()
    tar.members.clear()  # type: ignore[attr-defined]  # `tar` would keep all members
    return member


@contextmanager
def damaged() -> Iterator[None]:
    """Convert exceptions caused by a damaged archive to `invalid_params`.

    Besides their own exceptions, the libraries raise generic ones such as `IndexError` and `struct.error`.
    """
    try:
        yield
    except (HawseError, MemoryError):
        raise
    except OSError as error:
        if error.errno is not None:
            raise  # an I/O error, not a damaged archive
        raise _invalid(f"the archive cannot be read: {error}") from error  # raised by bz2
    except Exception as error:
        raise _invalid(f"the archive cannot be read: {error}") from error


class _Bound:
    """Counts an archive's decompressed bytes. Raises `too_large` if there are more than `limit`."""

    def __init__(self, limit: int) -> None:
        self._left = limit

    def count(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            raise HawseError("too_large", f"the archive expands to more than {RATIO_MAX} times its size")
        return data


def _blocks(content: IO[bytes], bound: _Bound) -> Callable[[], bytes]:
    def read() -> bytes:
        with damaged():
            return bound.count(content.read(BLOCK))

    return read


def _invalid(why: str) -> HawseError:
    return HawseError("invalid_params", why, details={"path": "$.path"})


# ---- tar


class _Decoder(Protocol):
    """A decompressor from `bz2`, `lzma` or `zstd`, or a `_Gzip`."""

    eof: bool
    unused_data: bytes
    needs_input: bool

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """zlib's decompressor, with the same interface as the other decompressors."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


def _decoder(magic: bytes) -> Callable[[], _Decoder] | None:
    if magic[:2] == b"\x1f\x8b":
        return cast("Callable[[], _Decoder]", _Gzip)
    if magic[:3] == b"BZh":
        return cast("Callable[[], _Decoder]", bz2.BZ2Decompressor)
    if magic[:4] == zstd.MAGIC:
        return cast("Callable[[], _Decoder]", zstd.Decompressor)
    if magic == b"\xfd7zXZ\0":
        return lambda: cast(_Decoder, lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY))
    return None


class ArchiveStream:
    """A decompressed file for sequential reading, with the file methods needed by `tarfile`."""

    def __init__(self, fd: int, decoder: Callable[[], _Decoder] | None, bound: _Bound | None = None) -> None:
        """Start at the current position of `fd`. `bound` limits the decompressed bytes; None means no limit."""
        self._fd = fd
        self._bound = bound
        self._make = decoder
        self._decoder = decoder() if decoder is not None else None
        self._padding = b""  # data that was found after zeros between compressed streams
        self._ready = bytearray()
        self._position = 0
        self._headers: int | None = None  # number of header bytes that can still be read

    @contextmanager
    def headers(self) -> Iterator[None]:
        """Limit reads during the `with` block. `tarfile` keeps all headers in memory, even an endless sparse map."""
        self._headers = HEADERS_MAX
        try:
            yield
        finally:
            self._headers = None

    def read(self, size: int) -> bytes:
        if size > HEADER_MAX:
            raise HawseError("too_large", f"a header in the archive has {size} bytes, which is too many")
        if self._headers is not None:
            self._headers -= size
            if self._headers < 0:
                raise HawseError("too_large", f"an entry's headers have more than {HEADERS_MAX} bytes")
        return self._read(size)

    def _read(self, size: int) -> bytes:
        while len(self._ready) < size and (data := self._more()) is not None:
            self._ready += data
        taken = bytes(self._ready[:size])
        del self._ready[:size]
        self._position += len(taken)
        return taken

    def drain(self) -> None:
        """Read to the end, because only then is it known whether a compressed file is complete."""
        while self._read(BLOCK):
            pass

    def seekable(self) -> bool:
        return True  # forward only

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> int:
        if position < self._position:
            raise tarfile.ReadError("the entries are not in order")
        while self._position < position and self._read(min(position - self._position, BLOCK)):
            pass
        return self._position

    def _more(self) -> bytes | None:
        """Return more bytes, possibly b"", or None at the end."""
        if self._decoder is None:
            return os.read(self._fd, BLOCK) or None
        if self._decoder.eof:  # another stream may follow, after zeros that fill a block
            data = self._padding or self._decoder.unused_data or os.read(self._fd, BLOCK)
            if not data or self._make is None:
                return None
            if not (data := data.lstrip(b"\0")):
                self._padding = os.read(self._fd, BLOCK)
                return b"" if self._padding else None
            self._padding = b""
            self._decoder = self._make()
            return self._count(self._decoder.decompress(data, BLOCK))
        data = os.read(self._fd, BLOCK) if self._decoder.needs_input else b""
        if not data and self._decoder.needs_input:
            raise EOFError("it ends early")
        return self._count(self._decoder.decompress(data, BLOCK))

    def _count(self, data: bytes) -> bytes:
        return data if self._bound is None else self._bound.count(data)


def _tar(stream: ArchiveStream, bound: _Bound) -> Iterator[ArchiveEntry]:
    with stream.headers():
        tar = tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:", errorlevel=2)  # noqa: SIM115  # closed below
    with tar:
        while (member := next_entry(tar, stream)) is not None:
            fields = (member.mode, float(member.mtime))
            if member.isfile():
                content = tar.extractfile(member)
                assert content is not None
                yield ArchiveEntry(member.name, "file", *fields, read=_blocks(content, bound))
            elif member.isdir():
                yield ArchiveEntry(member.name, "directory", *fields)
            elif member.issym():
                yield ArchiveEntry(member.name, "symlink", *fields, target=member.linkname)
            elif member.islnk():
                yield ArchiveEntry(member.name, "link", *fields, target=member.linkname)
            elif member.isdev():
                yield ArchiveEntry(member.name, "special", *fields)
            else:
                raise tarfile.ReadError(f"unknown type {member.type!r} of entry {member.name!r}")
    stream.drain()


# ---- zip


class _Bounded(io.FileIO):
    """A file that limits the size of reads, because `zipfile` reads the whole central directory at once.

    Seeking to a position before the start, as caused by a damaged directory, raises `ValueError` instead of `OSError`.
    """

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if whence == os.SEEK_SET and not 0 <= offset <= os.fstat(self.fileno()).st_size:
            raise ValueError(f"the file has no position {offset}")
        return super().seek(offset, whence)

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(DIRECTORY_MAX + 1 if size is None or size < 0 else min(size, DIRECTORY_MAX + 1)) or b""
        if len(data) > DIRECTORY_MAX:
            raise HawseError("too_large", f"the archive's directory has more than {DIRECTORY_MAX} bytes")
        return data


def _zip(fd: int, bound: _Bound) -> Iterator[ArchiveEntry]:
    with _Bounded(fd, closefd=False) as file, zipfile.ZipFile(cast("IO[bytes]", file)) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16 if info.create_system == 3 else 0  # 3: Unix
            fields: tuple[int, float] = (stat.S_IMODE(mode), _time(info.date_time))
            if info.is_dir():
                yield ArchiveEntry(info.filename, "directory", *fields)
                continue
            if info.flag_bits & 1:
                raise _invalid(f"{info.filename!r} is encrypted")
            if info.compress_type not in _ZIP_METHODS:
                raise _invalid(f"unsupported compression method {info.compress_type} of entry {info.filename!r}")
            with closing(archive.open(info)) as content:
                if stat.S_ISLNK(mode):
                    target = os.fsdecode(content.read(LINK_MAX))
                    yield ArchiveEntry(info.filename, "symlink", *fields, target=target)
                elif stat.S_IFMT(mode) in (0, stat.S_IFREG):
                    yield ArchiveEntry(info.filename, "file", *fields, read=_blocks(content, bound))
                else:
                    yield ArchiveEntry(info.filename, "special", *fields)


def _time(date: tuple[Any, ...]) -> float:
    """Return a zip entry's date, which has no time zone, in seconds since 1970."""
    try:
        return time.mktime((*date, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0
