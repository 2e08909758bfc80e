"""`python -m hawse_gateway.backups.squashfs`: builds a squashfs image from an archive on standard input.

Programs in a sandbox control the contents of the archive, so this process confines itself, and thus mksquashfs, before
reading the first byte. All entries get the same owner: the user that runs the sandbox's programs.
"""

import gzip
import io
import os
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator, Sequence
from typing import IO, Final, cast

import msgspec

from hawse import zstd
from hawse.api.backups import BackupFormat
from hawse.wire import HawseError
from hawse_gateway.backups.tar_sizes import TarSizes
from hawse_gateway.core.confinement import confine, die_with

IMAGE_FD: Final = 100  # descriptor of the image file, which is empty when the process starts
SYSTEM: Final = "/usr/bin:/usr/sbin:/bin:/sbin:/usr/local/bin"
BLOCK: Final = 256 << 10  # bytes to read from the archive at once
HEAD: Final = 1 << 20  # maximum number of bytes to read from the archive to find its first entry
MODE: Final = 0o755  # mode of the top directory if the archive has no entry for it
LEVEL: Final = 3  # zstd level; mksquashfs's default of 15 is ten times slower and saves a few percent
MEMORY: Final = 1 << 30  # maximum size of each process's address space, in bytes
QUEUES: Final = "128M"  # the share of MEMORY that mksquashfs may use for its queues
PROCESSORS: Final = 2  # number of mksquashfs threads; each needs its own buffers
LINE_MAX: Final = 1000  # maximum length of a line of mksquashfs's output, in bytes
LINES_KEPT: Final = 10  # number of lines to keep from the end of the output; few enough to fit into a pipe
TOO_LARGE: Final = 3  # exit code if the unpacked archive would be too large
NICENESS: Final = 5  # a build has lower priority than calls


class ImagePlan(msgspec.Struct, frozen=True, kw_only=True):
    """The process's input.

    Attributes:
        program: The path of mksquashfs.
        format: The format of the archive.
        owner: The user and group of all files.
        size: The maximum size of the image in bytes.
        unpacked: The maximum unpacked size of the archive in bytes, including holes in files.
        cpu: The maximum CPU time of each process, in seconds.
        user: The user and group to switch to if the process runs as root. None keeps the current user.
    """

    program: str
    format: BackupFormat
    owner: int
    size: int
    unpacked: int
    cpu: int
    user: int | None = None


def find(places: Sequence[str | None] = (None, SYSTEM)) -> str:
    """Return the path of mksquashfs in the first of `places` that contains it. A place of None means PATH.

    Raises:
        HawseError: `unavailable`, with the name of the package to install.
    """
    path = next(filter(None, (shutil.which("mksquashfs", path=place) for place in places)), None)
    if path is None:
        text = "overlays need mksquashfs on the gateway's machine: apt install squashfs-tools, or use the mode `copy`"
        raise HawseError("unavailable", text, retryable=False)
    return os.path.realpath(path)


def main() -> int:
    plan = msgspec.json.decode(sys.argv[1], type=ImagePlan)
    os.dup2(int(sys.argv[2]), IMAGE_FD)
    os.nice(NICENESS)
    zstd.is_available()  # loads the zstd library, because it can't be loaded after `confine`
    confine(user=plan.user, memory=MEMORY, file_size=plan.size, cpu=plan.cpu, write=[IMAGE_FD])
    try:
        return _make(plan)
    except _TooLargeError:
        return TOO_LARGE


def _make(plan: ImagePlan) -> int:
    """Build the image. Return the exit code. Raises `_TooLargeError`."""
    blocks = _bounded(decompressed(sys.stdin.buffer, plan.format), plan.unpacked)
    head = b""
    while len(head) < HEAD and (block := next(blocks, b"")):
        head += block
    command = arguments(plan, top_mode(head))
    own = os.getpid()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[IMAGE_FD],
        env={"LC_ALL": "C"},
        preexec_fn=lambda: die_with(own),  # noqa: PLW1509  # a single thread; it would keep the image and its lock
    ) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        tail: list[bytes] = []
        reader = threading.Thread(target=_read_tail, args=(child.stderr, tail))
        reader.start()
        try:
            with child.stdin as pipe:
                pipe.write(head)
                for block in blocks:
                    pipe.write(block)
        except BrokenPipeError:
            pass  # mksquashfs stopped reading, and has printed why it failed
        except BaseException:
            child.kill()
            raise
        reader.join()
    sys.stderr.buffer.write(b"".join(tail))
    if child.returncode == -signal.SIGXCPU:
        sys.stderr.write("SIGXCPU")
    if child.returncode == 0:
        os.fsync(IMAGE_FD)
    return int(child.returncode != 0)


class _TooLargeError(Exception):
    """The unpacked archive would be too large."""


def _bounded(blocks: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Yield an archive's bytes unchanged. Raises `_TooLargeError` if the unpacked contents exceed `most` bytes."""
    sizes = TarSizes()
    for block in blocks:
        sizes.feed(block)
        if sizes.total > most:
            raise _TooLargeError
        yield block


def _read_tail(pipe: IO[bytes], tail: list[bytes]) -> None:
    """Read all of mksquashfs's output, which can have a line for each entry, and keep only the last lines."""
    for line in iter(lambda: pipe.readline(LINE_MAX), b""):
        tail.append(line)
        del tail[:-LINES_KEPT]


def arguments(plan: ImagePlan, mode: int) -> list[str]:
    """Return the command for reading a tar from standard input. `mode` is the mode for the top directory."""
    owner = str(plan.owner)
    return [
        *(plan.program, "-", f"/proc/self/fd/{IMAGE_FD}", "-tar", "-noappend", "-no-recovery", "-exit-on-error"),
        *("-comp", "zstd", "-Xcompression-level", str(LEVEL)),
        *("-force-uid", owner, "-force-gid", owner, "-root-uid", owner, "-root-gid", owner, "-root-mode", f"{mode:o}"),
        *("-mem", QUEUES, "-processors", str(min(PROCESSORS, os.cpu_count() or 1)), "-quiet", "-no-progress"),
    ]


def decompressed(archive: IO[bytes], format: BackupFormat) -> Iterator[bytes]:
    """Yield the decompressed tar. Raises `EOFError`, `OSError` or `ValueError` if the archive is damaged."""
    if format == "tar.zst":
        decoder = zstd.Decompressor()
        while not decoder.eof:
            data = archive.read(BLOCK) if decoder.needs_input else b""
            if not data and decoder.needs_input:
                raise EOFError("the archive ends early")
            if block := decoder.decompress(data, BLOCK):
                yield block
        return
    stream = cast("IO[bytes]", gzip.GzipFile(fileobj=archive)) if format == "tar.gz" else archive
    while block := stream.read(BLOCK):
        yield block


def top_mode(head: bytes) -> int:
    """Return the top directory's mode, read from an archive's first bytes, because mksquashfs ignores the directory's
    entry."""
    try:
        with tarfile.open(fileobj=io.BytesIO(head), mode="r:", encoding="utf-8", errors="surrogateescape") as tar:
            first = tar.next()
    except (tarfile.TarError, ValueError, OSError, EOFError):
        return MODE
    return stat.S_IMODE(first.mode) if first is not None and first.isdir() and first.name == "." else MODE


if __name__ == "__main__":
    sys.exit(main())
