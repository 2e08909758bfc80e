"""Computes a tar archive's unpacked size from its headers while the archive is streamed.

An 864-byte tar can contain 50 sparse files of 1 TiB each. Unpacking it means reading all of their zeros. This module
supports ustar, pax and GNU headers, and the sparse files of GNU tar and pax. Anything that isn't a tar is ignored,
because the program that unpacks it will report the error.
"""

from typing import Final

RECORD: Final = 512  # size of a header in bytes; an entry's data is padded to a multiple of this size
PAX_MAX: Final = 1 << 20  # maximum size of a pax header in bytes
_PAX: Final = (b"x", b"g", b"X")
_SPARSE: Final = b"S"  # entry type for GNU tar's sparse files
_SIZE: Final = b"size"
_REAL: Final = (b"GNU.sparse.realsize", b"GNU.sparse.size")


class TarSizes:
    """Computes the unpacked size of an archive passed to `feed`.

    Attributes:
        total: The unpacked size in bytes so far, including holes in files.
    """

    def __init__(self) -> None:
        self.total = 0
        self._rest = b""  # the start of an incomplete record or pax header
        self._skip = 0  # number of bytes until the next header
        self._pax = 0  # size of the next pax header including padding; 0 if an entry's header is next
        self._extended = False  # whether a sparse file's map continues in the next record
        self._after_map = 0  # number of data bytes after the map
        self._real: int | None = None  # the next entry's size according to a pax header
        self._size: int | None = None

    def feed(self, block: bytes) -> None:
        """Process a block of any size."""
        self.total += len(block)
        at = 0
        if self._rest:
            block, self._rest = self._rest + block, b""
        while True:
            if self._skip:
                step = min(self._skip, len(block) - at)
                self._skip -= step
                at += step
            wanted = self._pax or RECORD
            if self._skip or len(block) - at < wanted:
                self._rest = block[at:]
                return
            record = block[at : at + wanted]
            at += wanted
            if self._pax:
                self._pax = 0
                self._read_pax(record)
            elif self._extended:
                self._read_map(record)
            else:
                self._read_header(record)

    def _read_header(self, record: bytes) -> None:
        kind, size = record[156:157], _number(record[124:136])
        if kind in _PAX and 0 < size <= PAX_MAX:
            self._pax = _filled(size)
            return
        size = size if self._size is None else self._size
        data = _filled(size)
        if kind == _SPARSE:
            self.total += max(0, _number(record[483:495]) - size)
            self._extended, self._after_map = record[482:483] == b"\1", data
            data = 0 if self._extended else data
        elif self._real is not None:
            self.total += max(0, self._real - size)
        self._skip = data
        if kind not in b"KL":  # GNU tar's headers with a long name, which precede the entry's own header
            self._real = self._size = None

    def _read_map(self, record: bytes) -> None:
        self._extended = record[504:505] == b"\1"
        if not self._extended:
            self._skip = self._after_map

    def _read_pax(self, header: bytes) -> None:
        """Parse lines of the form `LENGTH NAME=VALUE`. If a name occurs more than once, its last line wins."""
        at = 0
        while (space := header.find(b" ", at, at + 20)) > 0 and header[at:space].isdigit():
            length = int(header[at:space])
            name, _, value = header[space + 1 : at + length - 1].partition(b"=")
            if value.isdigit() and len(value) <= 20:
                if name == _SIZE:
                    self._size = int(value)
                elif name in _REAL:
                    self._real = int(value)
            if length <= 0:
                return
            at += length


def _number(field: bytes) -> int:
    """Return a number from a header. The number consists of octal digits or, if the first bit is set, is a binary
    integer."""
    if field[0] & 0x80:
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:]) if field[0] == 0x80 else 0
    try:
        return int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        return 0


def _filled(size: int) -> int:
    return (size + RECORD - 1) // RECORD * RECORD
