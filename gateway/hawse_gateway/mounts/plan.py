"""What the process of a mount is started with: JSON on its standard input, so that no file and no argument has it."""

from typing import Final, Literal

import msgspec

READY: Final = b"ready\n"  # on the standard output of `python -m hawse_gateway.mounts`, when the work is done
# Descriptors of rclone and squashfuse. rclone names directories by them (/proc/self/fd/N), since its user may not enter
# those above them; the numbers are fixed, because rclone finds what its cache has by the path of what it serves.
CACHE_FD: Final = 100
DIRECTORY_FD: Final = 101
FUSE_FD: Final = 102
IMAGE_FD: Final = 103
NAME: Final = "hawse-"  # begins the source of a mount in /proc/PID/mountinfo; its id follows


class Inside(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a sandbox.

    Attributes:
        pid: A process in the mount namespace of its programs.
        user: The user and group of its programs, as its user namespace counts them.
        workspace: The directory of the user's files there.
        path: The place, relative to the workspace.
    """

    pid: int
    user: int
    workspace: str
    path: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of work.

    Attributes:
        id: The id of the mount.
        action: `mount`: become rclone or squashfuse, which serves the mount. `unmount`: remove it from the sandbox.
            `check`: find out whether programs use it.
        inside: Where it appears. None: nowhere, so that rclone only uploads what its cache has.
        read_only: Whether nothing can be written.
        check: Whether it is mounted for the first time: its root is listed, which asks the store, before it counts as
            ready. A directory is made for an overlay then only.
        force: Whether it is removed although programs use it.
        discard: Whether what was changed in an overlay is removed with it.
        cache: The directory of rclone's cache, which it has as `CACHE_FD`. None: it is not rclone.
        directory: The directory that rclone serves, as `DIRECTORY_FD`. None: it serves a bucket.
        image: The image that squashfuse serves, as `IMAGE_FD`, below an overlay. None: rclone serves the mount.
        memory: Bytes of the address space of squashfuse.
        argv: The program and its arguments.
        env: The whole environment of rclone, with the credentials.
        user: The user and group that the superuser becomes before the program runs. None: no other.
    """

    id: str
    action: Literal["mount", "unmount", "check"]
    inside: Inside | None = None
    read_only: bool = False
    check: bool = False
    force: bool = False
    discard: bool = False
    cache: str | None = None
    directory: str | None = None
    image: str | None = None
    memory: int = 0
    argv: list[str] = []
    env: dict[str, str] = {}
    user: tuple[int, int] | None = None
