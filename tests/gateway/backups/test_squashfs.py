"""A confined process builds an image from an archive."""

import asyncio
import gzip
import io
import os
import subprocess
import sys
import tarfile
from asyncio.subprocess import PIPE
from contextlib import suppress
from pathlib import Path

import msgspec
import psutil
import pytest

from hawse import zstd
from hawse.api.backups import BackupFormat
from hawse.wire import HawseError
from hawse_gateway.backups import squashfs
from hawse_gateway.backups.squashfs import ImagePlan
from hawse_gateway.core.cancellation import kill_process, start_process
from hawse_gateway.providers.isolation import host_user
from tests.support.gateway import eventually
from tests.support.waiting import TIMEOUT

MAGIC = b"hsqs"  # of squashfs
USER = host_user.of_process("a test") if os.getuid() == 0 else None


def tar(mode: int = 0o2751, size: int = 100_000) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        top = tarfile.TarInfo(".")
        top.type, top.mode = tarfile.DIRTYPE, mode
        archive.addfile(top)
        file = tarfile.TarInfo("f")
        file.size = size
        archive.addfile(file, io.BytesIO(os.urandom(file.size)))
    return out.getvalue()


def compressed(data: bytes, format: BackupFormat) -> bytes:
    if format == "tar.zst":
        compressor = zstd.Compressor()
        return compressor.compress(data) + compressor.flush()
    return gzip.compress(data) if format == "tar.gz" else data


def plan(format: BackupFormat, size: int = 1 << 20) -> ImagePlan:
    return ImagePlan(
        program=squashfs.find(), format=format, owner=1000, size=size, unpacked=4 * size, cpu=60, user=USER
    )


def argv(plan: ImagePlan, fd: int) -> list[str]:
    return [sys.executable, "-m", "hawse_gateway.backups.squashfs", msgspec.json.encode(plan).decode(), str(fd)]


def made(folder: Path, archive: bytes, format: BackupFormat, *, size: int = 1 << 20) -> tuple[int, bytes, str]:
    """Run the process; return its exit code, the image, and what it printed."""
    path = folder / "image"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    if USER is not None:
        os.fchown(fd, USER, USER)
    command = argv(plan(format, size), fd)
    try:
        done = subprocess.run(command, input=archive, pass_fds=[fd], capture_output=True, timeout=60, check=False)
    finally:
        os.close(fd)
    return done.returncode, path.read_bytes(), done.stderr.decode()


@pytest.mark.parametrize("format", ["tar", "tar.gz", "tar.zst"])
def test_an_image_can_be_built_from_each_format(tmp_path: Path, format: BackupFormat) -> None:
    code, image, _ = made(tmp_path, compressed(tar(), format), format)
    assert (code, image[:4]) == (0, MAGIC)
    assert len(image) > 100_000


async def test_nothing_is_left_when_the_process_is_killed(tmp_path: Path) -> None:
    with (tmp_path / "image").open("wb+") as image:
        if USER is not None:
            os.fchown(image.fileno(), USER, USER)
        process = await start_process(*argv(plan("tar"), image.fileno()), stdin=PIPE, pass_fds=[image.fileno()])
    try:
        assert process.stdin is not None
        process.stdin.write(tar(size=2 * squashfs.HEAD)[: squashfs.HEAD + 1])
        leader = psutil.Process(process.pid)
        await eventually(lambda: [one for one in leader.children() if one.name() == "mksquashfs"])
        [child] = leader.children()
        child.suspend()  # it does not see that its input ends
        leader.kill()
        await process.wait()
        gone, _ = await asyncio.to_thread(psutil.wait_procs, [child], TIMEOUT)
        assert gone == [child]
    finally:
        await kill_process(process)


@pytest.mark.parametrize("format", ["tar", "tar.gz", "tar.zst"])
def test_an_archive_that_ends_early_is_an_error(tmp_path: Path, format: BackupFormat) -> None:
    code, _, printed = made(tmp_path, compressed(tar(), format)[:50_000], format)
    assert code != 0
    assert printed


@pytest.mark.parametrize("format", ["tar", "tar.gz", "tar.zst"])
def test_data_that_is_not_an_archive_is_an_error(tmp_path: Path, format: BackupFormat) -> None:
    assert made(tmp_path, os.urandom(5000), format)[0] != 0


def test_an_image_has_a_bound(tmp_path: Path) -> None:
    code, image, _ = made(tmp_path, tar(), "tar", size=50_000)
    assert code != 0
    assert len(image) <= 50_000


def test_an_archive_that_is_too_large_unpacked_has_an_exit_code(tmp_path: Path) -> None:
    file = tarfile.TarInfo("f")
    file.size = 5 << 20
    for zeros in (bytes(5 << 20), b""):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            if zeros:
                archive.addfile(file, io.BytesIO(zeros))
            else:
                sparse = tarfile.TarInfo("g")
                sparse.pax_headers = {"GNU.sparse.realsize": str(1 << 40)}
                out.write(sparse.tobuf(tarfile.PAX_FORMAT))
        code, image, _ = made(tmp_path, compressed(out.getvalue(), "tar.zst"), "tar.zst")
        assert (code, image[:4] == MAGIC) == (squashfs.TOO_LARGE, False)


def test_an_image_that_takes_too_much_processor_time_is_given_up(tmp_path: Path) -> None:
    fd = os.open(tmp_path / "image", os.O_RDWR | os.O_CREAT)
    if USER is not None:
        os.fchown(fd, USER, USER)
    slow = msgspec.structs.replace(plan("tar", 1 << 30), cpu=1)
    try:
        process = subprocess.Popen(argv(slow, fd), stdin=PIPE, stderr=PIPE, pass_fds=[fd])
        with process as running, suppress(BrokenPipeError):
            assert running.stdin is not None
            file = tarfile.TarInfo("f")
            file.size = 900 << 20
            running.stdin.write(file.tobuf())
            for _ in range(900):
                running.stdin.write(os.urandom(1 << 20))
    finally:
        os.close(fd)
    assert process.returncode != 0


def test_the_mode_of_the_top_directory_is_read_from_the_archive() -> None:
    assert squashfs.top_mode(tar(0o1700)) == 0o1700
    assert squashfs.top_mode(tar()[:1024]) == 0o2751
    for other in (b"", bytes(10_000), os.urandom(2000)):
        assert squashfs.top_mode(other) == squashfs.MODE


def test_blocks_are_bounded_whatever_the_ratio_is() -> None:
    data = bytes(10 << 20)
    for format in ("tar", "tar.gz", "tar.zst"):
        blocks = list(squashfs.decompressed(io.BytesIO(compressed(data, format)), format))
        assert b"".join(blocks) == data
        assert max(map(len, blocks)) <= squashfs.BLOCK


def test_without_mksquashfs_the_error_names_the_package_and_the_alternative(tmp_path: Path) -> None:
    with pytest.raises(HawseError, match="apt install squashfs-tools, or use the mode `copy`") as raised:
        squashfs.find((str(tmp_path),))
    assert raised.value.code == "unavailable"
