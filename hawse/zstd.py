"""zstd (RFC 8878) with the interface of `lzma`, from the standard library (Python 3.14 or later) or backports.zstd.

The library is loaded on first use. All other features work without it.
"""

import sys
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from hawse.wire import HawseError

MAGIC: Final = b"\x28\xb5\x2f\xfd"
LEVEL: Final = 3  # compresses as well as gzip, four times as fast
WINDOW_LOG: Final = 27  # up to 128 MiB of memory for decompressing, enough for `zstd --long`


@cache
def _library() -> ModuleType | None:
    try:
        return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ModuleNotFoundError:
        return None


def is_available() -> bool:
    """Return whether this process has a zstd library."""
    return _library() is not None


class Compressor:
    """Compresses one stream. Raises `HawseError` (`unavailable`) if no library is installed."""

    def __init__(self) -> None:
        self._inner: Any = _needed().ZstdCompressor(level=LEVEL)

    def compress(self, data: bytes) -> bytes:
        compressed: bytes = self._inner.compress(data)
        return compressed

    def flush(self) -> bytes:
        rest: bytes = self._inner.flush()
        return rest


class Decompressor:
    """Decompresses one frame, like `lzma.LZMADecompressor`. Damaged data raises `ValueError`.

    Raises:
        HawseError: `unavailable` if no library is installed.
    """

    def __init__(self) -> None:
        library = _needed()
        self._error: type[Exception] = library.ZstdError
        self._inner: Any = library.ZstdDecompressor(options={library.DecompressionParameter.window_log_max: WINDOW_LOG})

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data)

    @property
    def needs_input(self) -> bool:
        return bool(self._inner.needs_input)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        try:
            return bytes(self._inner.decompress(data, max_length))
        except self._error as error:
            raise ValueError(str(error)) from error


def _needed() -> ModuleType:
    library = _library()
    if library is None:
        raise HawseError(
            "unavailable",
            "zstd needs the package backports.zstd",
            admitted="yes",
            retryable=False,
        )
    return library
