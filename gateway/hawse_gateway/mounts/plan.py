"""The input of a mount's process: JSON on standard input, so that it is in no file and no argument."""

from typing import Final, Literal

import msgspec

READY: Final = b"ready\n"  # on the standard output of `python -m hawse_gateway.mounts`, once the work is done
# Descriptors of rclone and squashfuse. rclone refers to directories by them (/proc/self/fd/N), since its user cannot
# enter their parents. The numbers are fixed, because rclone finds its cache by the path it serves.
CACHE_FD: Final = 100
DIRECTORY_FD: Final = 101
FUSE_FD: Final = 102
IMAGE_FD: Final = 103
NAME: Final = "hawse-"  # prefix of a mount's source in /proc/PID/mountinfo, followed by its id


class Inside(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a sandbox.

    Attributes:
        pid: A process in the mount namespace of its programs.
        user: The user and group of its programs, in its user namespace.
        workspace: The directory of the user's files there.
        path: The place, relative to the workspace.
    """

    pid: int
    user: int
    workspace: str
    path: str


class MountPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of work.

    Attributes:
        id: The id of the mount.
        action: `mount`: become rclone or squashfuse, which serves the mount. `unmount`: remove it from the sandbox.
            `check`: check whether programs use it.
        inside: Where it appears. None if nowhere: rclone then only uploads the files in its cache.
        read_only: Whether it is read-only.
        check: Whether it is mounted for the first time. Its root is then listed, which queries the store, before it
            counts as ready. The directory of an overlay is only created in this case.
        force: Whether to remove it while programs use it.
        discard: Whether to remove an overlay's changes with it.
        cache: The directory of rclone's cache, passed as `CACHE_FD`. None for squashfuse.
        directory: The directory that rclone serves, passed as `DIRECTORY_FD`. None if it serves a bucket.
        image: The image that squashfuse serves below an overlay, passed as `IMAGE_FD`. None for rclone.
        memory: Bytes of the address space of squashfuse.
        argv: The program and its arguments.
        env: The complete environment of rclone, with the credentials.
        user: The user and group that the superuser switches to before the program runs. None keeps the current user.
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
