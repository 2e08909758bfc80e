"""Uploads and downloads of local files: complete, with progress; a download continues where it was stopped."""

import os
from pathlib import Path

import pytest

import hawse
from tests.support.fake_server import FakeServer


async def test_an_upload_reports_its_progress(hw: hawse.Client, server: FakeServer, tmp_path: Path) -> None:
    data = bytes(range(256)) * 10_000
    (tmp_path / "local").write_bytes(data)
    steps: list[tuple[int, int]] = []
    done = await hw.sandbox().files.upload(tmp_path / "local", "/up", progress=lambda *step: steps.append(step))
    assert server.world.files["/up"] == data
    assert done.bytes == len(data)
    assert steps[-1] == (len(data), len(data))
    assert steps == sorted(steps)


async def test_a_download_continues_where_it_was_stopped(hw: hawse.Client, server: FakeServer, tmp_path: Path) -> None:
    files, data = hw.sandbox().files, server.world.files["/numbers"]

    def give_up(so_far: int, size: int) -> None:
        if so_far > 100_000:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        await files.download("/numbers", tmp_path / "local", progress=give_up)
    (name,) = os.listdir(tmp_path)
    part = tmp_path / name
    come = part.stat().st_size
    assert part.read_bytes() == data[:come]
    steps: list[int] = []
    size = await files.download("/numbers", tmp_path / "local", progress=lambda so_far, _: steps.append(so_far))
    assert size == steps[-1] == len(data)
    assert steps[0] > come
    assert (tmp_path / "local").read_bytes() == data
    assert not part.exists()


async def test_a_file_that_is_not_there_leaves_nothing_here(hw: hawse.Client, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await hw.sandbox().files.upload(tmp_path / "none", "/up")
    await hw.sandbox().files.write("/f", b"")
    await hw.sandbox().files.download("/f", tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == b""
