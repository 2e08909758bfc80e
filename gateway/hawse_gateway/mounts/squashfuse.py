"""squashfuse, which serves the image of a backup: where it is, and its arguments."""

import os
import shutil
from collections.abc import Sequence
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.mounts.plan import FUSE_FD, IMAGE_FD
from hawse_gateway.mounts.rclone import SYSTEM

PLACES: Final = (None, SYSTEM)
_NAMES: Final = ("squashfuse_ll", "squashfuse")  # the first is faster: it knows files by number, not by path


def find(places: Sequence[str | None] = PLACES) -> str | None:
    """Return the path of squashfuse, in the first of `places` that has it; None is the PATH of this process."""
    for name in _NAMES:
        for place in places:
            if path := shutil.which(name, path=place):
                return os.path.realpath(path)
    return None


def check_available(places: Sequence[str | None] = PLACES) -> str:
    """Return the path of squashfuse. Raises `HawseError` `unavailable`, which says what to install."""
    program = find(places)
    if program is None:
        text = "overlays need squashfuse on the machine of the gateway: apt install squashfuse; the mode `copy` works"
        raise HawseError("unavailable", text, retryable=False)
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        text = "overlays need /dev/fuse on the machine of the gateway: modprobe fuse, and access for the gateway's user"
        raise HawseError("unavailable", f"{text}; the mode `copy` works", retryable=False)
    return program


def arguments(program: str) -> list[str]:
    """Return the command that serves an image. `program`: the path of squashfuse."""
    return [program, "-f", f"/proc/self/fd/{IMAGE_FD}", f"/dev/fd/{FUSE_FD}"]
