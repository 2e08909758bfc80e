"""The input for a mount's process: JSON on standard input, which keeps credentials out of files and arguments."""

from typing import Final, Literal

import msgspec

READY: Final = b"ready\n"  # written to the standard output of `python -m hawse_gateway.mounts` on success
# Descriptors inherited by rclone and squashfuse. Directories are passed to rclone as /proc/self/fd/N, because
# rclone's user cannot enter their parent directories. The descriptor numbers are fixed, because rclone derives the
# location of its cache from the path that it serves.
CACHE_FD: Final = 100
DIRECTORY_FD: Final = 101
FUSE_FD: Final = 102
IMAGE_FD: Final = 103
NAME: Final = "hawse-"  # prefix of a mount's source in /proc/PID/mountinfo, followed by the mount's id


class Inside(msgspec.Struct, frozen=True, kw_only=True):
    """A mount point in a sandbox.

    Attributes:
        pid: The id of a process in the mount namespace of the sandbox's programs.
        user: The programs' user and group, in their user namespace.
        workspace: The path of the user's files in the sandbox.
        path: The mount point, relative to the workspace.
    """

    pid: int
    user: int
    workspace: str
    path: str


class MountPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The task for one process.

    Attributes:
        id: The id of the mount.
        action: `mount` executes rclone or squashfuse, which serves the mount. `unmount` removes the mount from the
            sandbox. `check` makes sure that no program is using it.
        inside: The mount point. None means that rclone only uploads the files in its cache.
        read_only: Whether the mount is read-only.
        check: Whether the mount is mounted for the first time. In this case, the process creates the directory for an
            overlay. Before reporting success, it lists the root directory, which queries the store.
        force: Whether to unmount it even if programs are using it.
        discard: Whether to delete the changes to an overlay.
        cache: The directory of rclone's cache, passed as `CACHE_FD`. None if the program is squashfuse.
        directory: The directory that rclone serves, passed as `DIRECTORY_FD`. None if it serves a bucket.
        image: The image that squashfuse serves, passed as `IMAGE_FD`. None if the program is rclone.
        memory: The maximum size of squashfuse's address space, in bytes.
        argv: The program and its arguments.
        env: The complete environment for rclone, including credentials.
        user: The user and group to switch to before executing the program. None keeps the current user.
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
