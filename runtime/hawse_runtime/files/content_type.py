"""Detects a file's MIME type and whether it is text."""

import codecs
import mimetypes
import os
from typing import Final

from hawse_runtime.files.read import open_regular
from hawse_runtime.files.rooted_path import RootedPath

READ: Final = 8192  # number of bytes examined at the start of a file
TEXT: Final = "text/plain"
BINARY: Final = "application/octet-stream"
_TYPES: Final = mimetypes.MimeTypes()  # ignores the image's MIME tables, so that types are the same in every sandbox
# Signatures for types whose file names often have no extension.
_BEGINNINGS: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\3\4", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)


def detected(place: RootedPath) -> tuple[str, bool]:
    """Return a file's MIME type and whether it is binary. Raises `OSError`."""
    fd, _ = open_regular(place.open)
    try:
        beginning = os.pread(fd, READ, 0)
    finally:
        os.close(fd)
    binary = is_binary(beginning)
    kind, encoding = _TYPES.guess_type(f"/{os.path.basename(place.path)}", strict=True)
    if encoding is not None:
        kind = f"application/{encoding}"
    if kind is None:
        by_content = (each for start, each in _BEGINNINGS if beginning.startswith(start))
        kind = next(by_content, BINARY if binary else TEXT)
    return kind, binary


def is_binary(beginning: bytes) -> bool:
    """Return whether the start of a file contains NUL or invalid UTF-8. An incomplete last character is accepted."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(beginning, final=len(beginning) < READ)
    except UnicodeDecodeError:
        return True
    return b"\0" in beginning
