"""Mount points are found and removed in another namespace, and nothing leads out of the workspace."""

import ctypes
import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hawse_gateway.mounts import namespaces
from hawse_gateway.mounts.plan import Inside
from tests.support.mount_place import Place, mount_place


def enter_and(place: Place, work: Callable[[], object]) -> int:
    """Run `work` in a child that has entered the namespace; return 0, or the number of its error."""
    # os.fork calls hooks, and OpenTelemetry's hook starts a thread. Only a process with one thread can enter.
    child = ctypes.PyDLL(None).fork()
    if child == 0:
        code = 255
        try:
            namespaces.enter(place.inside())
            work()
            code = 0
        except OSError as error:
            code = error.errno or 254
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def mounted(place: Place, id: str, path: str) -> None:
    script = 'mkdir -p "$2" && mount -t tmpfs "hawse-$1" "$2"'
    target = str(place.workspace / path)
    subprocess.run(["nsenter", "-t", str(place.pid), "-m", "sh", "-c", script, "sh", id, target], check=True)


async def test_a_mount_is_found_by_its_id_wherever_it_is(tmp_path: Path) -> None:
    with mount_place(tmp_path) as place:
        mounted(place, "m-1", "a b/data")
        mounted(place, "m-12", "other")
        assert namespaces.mount_points(place.pid, "m-1") == [f"{place.workspace}/a b/data"]
        assert namespaces.mount_points(os.getpid(), "m-1") == []
        point = f"{place.workspace}/a b/data"
        assert enter_and(place, lambda: namespaces.detach(point, str(place.workspace), force=False)) == 0
        assert namespaces.mount_points(place.pid, "m-1") == []
        assert len(namespaces.mount_points(place.pid, "m-12")) == 1
    assert namespaces.mount_points(place.pid, "m-12") == []


async def test_a_mount_that_is_found_unused_stays(tmp_path: Path) -> None:
    with mount_place(tmp_path) as place:
        mounted(place, "m-1", "data")
        point, workspace = f"{place.workspace}/data", str(place.workspace)
        assert enter_and(place, lambda: namespaces.check_unused(point, workspace)) == 0
        assert namespaces.mount_points(place.pid, "m-1") == [point]


async def test_a_mount_in_use_is_removed_by_force_only(tmp_path: Path) -> None:
    with mount_place(tmp_path) as place:
        mounted(place, "m-1", "data")
        point, workspace = f"{place.workspace}/data", str(place.workspace)
        used = os.open(place.path(), os.O_RDONLY)
        assert enter_and(place, lambda: namespaces.detach(point, workspace, force=False)) == errno.EBUSY
        assert enter_and(place, lambda: namespaces.check_unused(point, workspace)) == errno.EBUSY
        assert enter_and(place, lambda: namespaces.detach(point, workspace, force=True)) == 0
        os.close(used)
    with pytest.raises(OSError, match="not in the workspace"):
        namespaces.detach("/etc", workspace, force=True)


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("new/deep", 0),
        ("empty", 0),
        ("full", errno.ENOTEMPTY),
        ("link", errno.ENOTDIR),
        ("link/x", errno.ENOTDIR),
        ("file", errno.ENOTDIR),
        ("mounted", errno.EBUSY),
    ],
)
async def test_the_way_to_a_mount_point(tmp_path: Path, path: str, number: int) -> None:
    with mount_place(tmp_path) as place:
        (place.workspace / "full/x").mkdir(parents=True)
        (place.workspace / "empty").mkdir()
        (place.workspace / "link").symlink_to("/etc")
        (place.workspace / "file").touch()
        mounted(place, "m-1", "mounted")
        inside = Inside(pid=place.pid, user=0, workspace=str(place.workspace), path=path)
        assert enter_and(place, lambda: namespaces.open_point(inside)) == number
    assert "x" not in os.listdir("/etc")
