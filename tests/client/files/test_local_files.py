"""Uploads and downloads of local files: complete, with progress; a download continues where it was stopped."""

import fcntl
import os
from pathlib import Path

import pytest

import hawse
from hawse.client.files.local_files import digest
from tests.support.fake_server import NUMBERS, FakeServer

PREFIX = f".hawse-{digest('local')}-"  # of the names of all parts of a file named `local`


async def test_an_upload_reports_its_progress(hw: hawse.Client, server: FakeServer, tmp_path: Path) -> None:
    data = bytes(range(256)) * 10_000
    (tmp_path / "local").write_bytes(data)
    steps: list[tuple[int, int]] = []
    done = await hw.sandbox().files.upload(tmp_path / "local", "up", progress=lambda *step: steps.append(step))
    assert (server.root / "up").read_bytes() == data
    assert done.bytes == len(data)
    assert steps[-1] == (len(data), len(data))
    assert steps == sorted(steps)


async def test_a_download_continues_where_it_was_stopped(hw: hawse.Client, server: FakeServer, tmp_path: Path) -> None:
    files, data = hw.sandbox().files, NUMBERS

    def give_up(so_far: int, size: int) -> None:
        if so_far > 100_000:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        await files.download("numbers", tmp_path / "local", progress=give_up)
    (name,) = os.listdir(tmp_path)
    part = tmp_path / name
    come = part.stat().st_size
    assert part.read_bytes() == data[:come]
    steps: list[int] = []
    size = await files.download("numbers", tmp_path / "local", progress=lambda so_far, _: steps.append(so_far))
    assert size == steps[-1] == len(data)
    assert steps[0] > come
    assert (tmp_path / "local").read_bytes() == data
    assert not part.exists()


async def test_a_download_removes_the_parts_of_other_versions(
    hw: hawse.Client, server: FakeServer, tmp_path: Path
) -> None:
    old = tmp_path / f"{PREFIX}1-2-3-4.part"
    used = tmp_path / f"{PREFIX}1-2-3-5.part"
    others = [tmp_path / name for name in (f"{PREFIX}1.part", ".hawse-other-1-2-3-4.part", f"{PREFIX}1-2-3-4.part.bak")]
    for path in (old, used, *others):
        path.write_bytes(b"x")
    with used.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as a download that is in progress
        await hw.sandbox().files.download("numbers", tmp_path / "local")
    assert sorted(os.listdir(tmp_path)) == sorted(path.name for path in (tmp_path / "local", used, *others))


async def test_two_downloads_to_one_file_do_not_mix(hw: hawse.Client, server: FakeServer, tmp_path: Path) -> None:
    files = hw.sandbox().files
    part = tmp_path / f"{PREFIX}{(await files.stat('numbers')).version}.part"
    part.touch()
    with part.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as the other one
        with pytest.raises(OSError, match="another download"):
            await files.download("numbers", tmp_path / "local")
    await files.download("numbers", tmp_path / "local")
    assert (tmp_path / "local").read_bytes() == NUMBERS


async def test_a_part_that_is_a_symlink_is_not_written(hw: hawse.Client, tmp_path: Path) -> None:
    files = hw.sandbox().files
    version = (await files.stat("numbers")).version
    (tmp_path / "victim").write_bytes(b"mine")
    (tmp_path / f"{PREFIX}{version}.part").symlink_to("victim")
    with pytest.raises(OSError, match="symbolic"):
        await files.download("numbers", tmp_path / "local")
    assert (tmp_path / "victim").read_bytes() == b"mine"


async def test_a_file_that_is_not_there_leaves_nothing_here(hw: hawse.Client, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await hw.sandbox().files.upload(tmp_path / "none", "up")
    await hw.sandbox().files.write("f", b"")
    await hw.sandbox().files.download("f", tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == b""


@pytest.mark.parametrize("name", ["漢" * 85, "x" * 255, "\udcff" * 255])
async def test_a_name_may_be_as_long_as_the_file_system_allows(hw: hawse.Client, tmp_path: Path, name: str) -> None:
    await hw.sandbox().files.download("numbers", tmp_path / name)
    assert os.listdir(tmp_path) == [name]
