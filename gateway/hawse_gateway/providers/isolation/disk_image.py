"""Workspaces with a size limit: each is a file that contains an ext4 file system.

Each time the sandbox is started, `launch.py`, running as root, mounts the file in a new mount namespace. Programs
outside the namespace can't see the mounted file system. The kernel unmounts it once the sandbox's last process has
ended.
"""

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.providers.state_directory import StateError

SMALLEST: Final = 4 << 20  # minimum size in bytes, because ext4's metadata needs space
MKFS_TIMEOUT: Final = 60.0  # s
POLL: Final = 0.01  # seconds between checks of the loop devices; the kernel sends no event when it releases one
SYSTEM: Final = "/usr/sbin:/usr/bin:/sbin:/bin"  # a service's PATH may lack the first of these directories
LOOP_CONTROL: Final = Path("/dev/loop-control")  # loop(4)
FILE_SYSTEMS: Final = Path("/proc/filesystems")


def find_mount() -> str | None:
    """Return the path to mount(8), or None if this machine can't limit workspace sizes."""
    if os.getuid() != 0 or not os.access(LOOP_CONTROL, os.R_OK | os.W_OK) or _find_mkfs() is None:
        return None
    if "ext4" not in FILE_SYSTEMS.read_text().split():
        return None
    return shutil.which("mount", path=SYSTEM)


def make(image: Path, size: int) -> None:
    """Create the file as a sparse file, unless it already exists. Blocks.

    Raises:
        HawseError: `invalid_params` if the size is too small.
        StateError: The file can't be created.
    """
    if image.exists():
        return
    if size < SMALLEST:
        message = f"a disk limit of {size} bytes is too small: use at least {SMALLEST}"
        raise HawseError("invalid_params", message, details={"path": "$.limits.disk"})
    mkfs = _find_mkfs()
    if mkfs is None:
        raise StateError("mkfs.ext4 is not installed: apt install e2fsprogs")
    new = image.with_suffix(".new")
    try:
        with new.open("wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.truncate(size)
        subprocess.run(
            [mkfs, "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,nodiscard", str(new)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=MKFS_TIMEOUT,
        )
        new.rename(image)
    except (OSError, subprocess.SubprocessError) as error:
        raise StateError(f"cannot create a workspace of {size} bytes: {error}") from error


def wait_until_released(image: Path, timeout: float) -> None:
    """Wait until the kernel has unmounted the file, which happens shortly after the last process ends. Blocks.

    Raises:
        HawseError: `unavailable` if the file is still mounted after `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    while _mounted(image):
        if time.monotonic() >= deadline:
            raise HawseError("unavailable", f"{image.name} is still mounted")
        time.sleep(POLL)


def _find_mkfs() -> str | None:
    return shutil.which("mkfs.ext4", path=SYSTEM)


def _mounted(image: Path) -> bool:
    """Return whether a loop device uses the file (/sys/block/loop*/loop/backing_file)."""
    if not image.exists():
        return False
    path = os.path.realpath(image)
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            if backing.read_text().strip() == path:
                return True
        except OSError:
            pass  # the device was released in the meantime
    return False
