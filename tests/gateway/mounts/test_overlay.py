"""An overlay in another mount namespace: changes stay in the mount point, below the overlay."""

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from hawse.wire import HawseError
from hawse_gateway.mounts.overlay import changes
from hawse_gateway.mounts.processes import MountProcesses
from hawse_gateway.mounts.settings import MountSettings, Source
from tests.support.gateway import eventually
from tests.support.mount_place import Place, mount_place


class Overlay:
    """The overlay `m-1` of an image at `data`."""

    def __init__(self, folder: Path, place: Place) -> None:
        tree = folder / "tree"
        (tree / "d").mkdir(parents=True)
        (tree / "x").write_text("of the image")
        tree.chmod(0o751)
        self.image = folder / "image"
        subprocess.run(["mksquashfs", tree, self.image, "-quiet", "-no-progress"], check=True, timeout=60)
        self.place = place
        self.processes = MountProcesses(folder / "mounts", MountSettings())

    async def mount(self, *, first: bool = True, path: str = "data") -> None:
        source, inside = Source(image=self.image), self.place.inside(path)
        await self.processes.start("m-1", source, inside=inside, runtime="r", read_only=False, check=first)

    async def unmount(self, *, force: bool = False, discard: bool = False) -> None:
        await self.processes.unmount("m-1", self.place.inside(), force=force, discard=discard)

    @property
    def process(self) -> psutil.Process:
        return psutil.Process(int(self.processes.folder("m-1").process.read_text().split()[0]))


def status_of(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text()


@pytest_asyncio.fixture
async def overlay(tmp_path: Path) -> AsyncIterator[Overlay]:
    with mount_place(tmp_path) as place:
        made = Overlay(tmp_path, place)
        yield made
        await made.unmount(force=True)
        await made.processes.end("m-1")


async def test_changes_are_kept_for_the_next_mount(overlay: Overlay) -> None:
    await overlay.mount()
    data = overlay.place.path()
    assert (data / "x").read_text() == "of the image"
    assert data.stat().st_mode & 0o777 == 0o751
    (data / "x").write_text("changed")
    (data / "d").rmdir()
    (data / "new").write_text("new")
    await overlay.unmount()
    await eventually(lambda: not overlay.processes.alive("m-1"))  # nothing keeps it
    assert os.listdir(data) == [changes("m-1")]
    await overlay.mount(first=False)
    assert sorted(os.listdir(data)) == ["new", "x"]
    assert (data / "x").read_text() == "changed"
    await overlay.unmount(discard=True)
    assert os.listdir(data) == []
    await overlay.unmount(discard=True)  # there is nothing left: no error


async def test_the_process_has_no_privileges(overlay: Overlay) -> None:
    await overlay.mount()
    process = overlay.process
    assert process.uids().real not in (0, os.getuid()) or os.getuid() != 0
    assert os.readlink(f"/proc/{process.pid}/ns/net") != os.readlink("/proc/self/ns/net")
    status = status_of(process.pid)
    assert "NoNewPrivs:\t1" in status
    assert "CapEff:\t0000000000000000" in status
    files = {os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{process.pid}/fd")}
    assert files == {"/dev/null", "/dev/fuse", str(overlay.image), str(overlay.processes.folder("m-1").log)}


async def test_changes_survive_when_the_process_is_killed(overlay: Overlay) -> None:
    await overlay.mount()
    data = overlay.place.path()
    (data / "new").write_text("new")
    overlay.process.kill()
    await eventually(lambda: not overlay.processes.alive("m-1"))
    with pytest.raises(OSError, match=r"not connected|connection abort"):
        (data / "x").read_text()
    assert (data / "new").read_text() == "new"
    await overlay.unmount(force=True)
    await overlay.mount(first=False)
    assert (data / "x").read_text() + (data / "new").read_text() == "of the imagenew"


async def test_a_lost_mount_point_is_an_error_and_nothing_starts_over(overlay: Overlay) -> None:
    await overlay.mount()
    (overlay.place.path() / "new").write_text("new")
    await overlay.unmount()
    (overlay.place.workspace / "data").rename(overlay.place.workspace / "moved")
    with pytest.raises(HawseError, match="move it back") as raised:
        await overlay.mount(first=False)
    assert raised.value.code == "unavailable"
    assert not (overlay.place.workspace / "data").exists()
    (overlay.place.workspace / "moved").rename(overlay.place.workspace / "data")
    await overlay.mount(first=False)
    assert (overlay.place.path() / "new").read_text() == "new"


async def test_the_directory_must_be_empty(overlay: Overlay) -> None:
    (overlay.place.workspace / "full/x").mkdir(parents=True)
    with pytest.raises(HawseError) as raised:
        await overlay.mount(path="full")
    assert raised.value.code == "conflict"
    await overlay.mount()
