"""Provides the path and arguments of squashfuse, which serves backup images."""

import os
import shutil
from collections.abc import Sequence
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.mounts.plan import FUSE_FD, IMAGE_FD
from hawse_gateway.mounts.rclone import SYSTEM

PLACES: Final = (None, SYSTEM)
_NAMES: Final = ("squashfuse_ll", "squashfuse")  # squashfuse_ll is faster, because it uses inode numbers


def find(places: Sequence[str | None] = PLACES) -> str | None:
    """Return the path of squashfuse in the first of `places` that contains it. A place of None means PATH."""
    for name in _NAMES:
        for place in places:
            if path := shutil.which(name, path=place):
                return os.path.realpath(path)
    return None


def check_available(places: Sequence[str | None] = PLACES) -> str:
    """Return the path of squashfuse. Raises `HawseError` (`unavailable`) with the name of the package to install."""
    program = find(places)
    if program is None:
        text = "overlays need squashfuse on the gateway's machine: apt install squashfuse, or use the mode `copy`"
        raise HawseError("unavailable", text, retryable=False)
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        text = "overlays need /dev/fuse on the gateway's machine: modprobe fuse, and access for the gateway's user"
        raise HawseError("unavailable", f"{text}; use the mode `copy`", retryable=False)
    return program


def arguments(program: str) -> list[str]:
    """Return the command for serving an image with the squashfuse at `program`."""
    return [program, "-f", f"/proc/self/fd/{IMAGE_FD}", f"/dev/fd/{FUSE_FD}"]
