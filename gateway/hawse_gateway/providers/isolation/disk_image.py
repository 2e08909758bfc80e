"""A workspace of fixed size: a file that contains an ext4 file system.

`launch.py`, which only the superuser can use, mounts it in the mount namespace of one start of the sandbox. So the
kernel unmounts it with the last process of the sandbox, whatever has ended that, and no other program sees it.
"""

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.providers.state_directory import StateError

SMALLEST: Final = 4 << 20  # bytes: the metadata of ext4 need room
MKFS_TIMEOUT: Final = 60.0  # s
POLL: Final = 0.01  # s between looks at the loop devices: that the kernel has released one is no event
SYSTEM: Final = "/usr/sbin:/usr/bin:/sbin:/bin"  # a service's PATH may lack the first
LOOP_CONTROL: Final = Path("/dev/loop-control")  # loop(4)
FILE_SYSTEMS: Final = Path("/proc/filesystems")


def find_mount() -> str | None:
    """Return the path of mount(8). None: the size of a workspace cannot be limited on this machine."""
    if os.getuid() != 0 or not os.access(LOOP_CONTROL, os.R_OK | os.W_OK) or _find_mkfs() is None:
        return None
    if "ext4" not in FILE_SYSTEMS.read_text().split():
        return None
    return shutil.which("mount", path=SYSTEM)


def make(image: Path, size: int) -> None:
    """Make the file, unless it exists. It takes room on the disk only for what is written to it. Blocks.

    Raises:
        HawseError: `invalid_params`: the size is too small.
        StateError: It cannot be made.
    """
    if image.exists():
        return
    if size < SMALLEST:
        message = f"a limit of the disk of {size} bytes is too small; the smallest is {SMALLEST}"
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
        raise StateError(f"a workspace of {size} bytes was not made: {error}") from error


def wait_until_released(image: Path, timeout: float) -> None:
    """Wait until the kernel has unmounted the file, which takes a moment after the last process. Blocks.

    Raises:
        HawseError: `unavailable` if it is still mounted after `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    while _mounted(image):
        if time.monotonic() >= deadline:
            raise HawseError("unavailable", f"{image.name} is still mounted")
        time.sleep(POLL)


def _find_mkfs() -> str | None:
    return shutil.which("mkfs.ext4", path=SYSTEM)


def _mounted(image: Path) -> bool:
    """Whether a loop device has the file (/sys/block/loop*/loop/backing_file)."""
    if not image.exists():
        return False
    path = os.path.realpath(image)
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            if backing.read_text().strip() == path:
                return True
        except OSError:
            pass  # it was released meanwhile
    return False
