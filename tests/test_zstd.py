"""zstd has the interface of the other decompressors, and its memory is bounded."""

import subprocess
import sys
from importlib import import_module

import pytest

from hawse import zstd
from hawse.wire import HawseError


def test_what_is_compressed_is_decompressed_by_blocks() -> None:
    assert zstd.is_available()
    compressor = zstd.Compressor()
    data = compressor.compress(b"x" * 10_000_000) + compressor.flush()
    assert data.startswith(zstd.MAGIC)
    decompressor = zstd.Decompressor()
    out = decompressor.decompress(data + b"next", 1000)
    assert (len(out), decompressor.needs_input, decompressor.eof) == (1000, False, False)
    while not decompressor.eof:
        out += decompressor.decompress(b"", 1 << 20)
    assert out == b"x" * 10_000_000
    assert decompressor.unused_data == b"next"


def test_what_is_damaged_or_needs_too_much_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="Zstandard"):
        zstd.Decompressor().decompress(zstd.MAGIC + b"not zstd" * 10, 100)
    library = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    large = library.ZstdCompressor(options={library.CompressionParameter.window_log: zstd.WINDOW_LOG + 1})
    data = large.compress(b"x") + large.flush()
    with pytest.raises(ValueError, match="too much memory"):
        zstd.Decompressor().decompress(data, 100)


def test_a_runtime_without_it_says_so_and_does_everything_else() -> None:
    script = """
import sys
sys.modules["backports.zstd"] = sys.modules["compression.zstd"] = None
from hawse.api.backups import BackupPack
from hawse.wire import HawseError
from hawse_runtime.backup.pack import pack
from hawse import zstd
from hawse_runtime.files.rooted_path import RootedPath

assert not zstd.is_available()
for make in (zstd.Compressor, zstd.Decompressor):
    try:
        make()
    except HawseError as error:
        assert error.code == "unavailable"
work = pack(RootedPath("."), BackupPack(exclude=["*"]))
try:
    while True:
        next(work)
except StopIteration as end:
    print(end.value.format)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "tar.gz\n"
    assert HawseError("unavailable").retryable
