"""Mounts FUSE file systems in a running sandbox's mount namespace (docs/decisions/0235).

The calling process enters the sandbox's namespaces, so it must be short-lived and single-threaded. It opens the
directories on the path to the mount point one by one, without following symbolic links, because programs in the sandbox
can change the path at any time.
"""

import errno
import os
import re
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from hawse_gateway.core.system_calls import call, check, libc
from hawse_gateway.mounts.plan import NAME, Inside

FUSE: Final = "/dev/fuse"
_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
# System call numbers, which are the same on all architectures (Linux 5.2).
_OPEN_TREE, _MOVE_MOUNT, _FSOPEN, _FSCONFIG, _FSMOUNT = 428, 429, 430, 431, 432
_SET_FLAG, _SET_STRING, _CREATE = 0, 1, 6  # FSCONFIG_*
_FSOPEN_CLOEXEC, _FSMOUNT_CLOEXEC = 1, 1
_RDONLY, _NOSUID, _NODEV = 1, 2, 4  # MOUNT_ATTR_*
_EMPTY_PATHS = 0x4 | 0x40  # MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH
_CLONE_HERE = 0x1 | 0x1000 | os.O_CLOEXEC  # OPEN_TREE_CLONE, AT_EMPTY_PATH
_MNT_DETACH, _MNT_EXPIRE, _UMOUNT_NOFOLLOW = 0x2, 0x4, 0x8
_WALK = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def mount_points(pid: int, id: str) -> list[str]:
    """Return the mount points of the mount `id`, as seen by a process (proc_pid_mountinfo(5)).

    The mount points can differ from the original path, because programs can rename parent directories. The result is
    empty if the process has exited.
    """
    try:
        text = Path(f"/proc/{pid}/mountinfo").read_bytes()
    except OSError:
        return []
    found = []
    for line in text.splitlines():
        fields, _, rest = line.partition(b" - ")
        if rest.split(b" ")[1:2] == [os.fsencode(NAME + id)]:
            point = re.sub(rb"\\([0-7]{3})", _unescaped, fields.split(b" ")[4])
            found.append(os.fsdecode(point))
    return found


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 8)])


def enter(inside: Inside) -> int:
    """Enter a sandbox's namespaces as its user. Return a descriptor of /dev/fuse opened there.

    The kernel requires the device to be opened in the mount's user namespace. The host's device node is used, because
    sandboxes don't have one.

    Raises:
        OSError: The sandbox has ended, or this process isn't allowed to enter it.
    """
    process = os.pidfd_open(inside.pid)
    try:
        if os.readlink("/proc/self/ns/user") != os.readlink(f"/proc/{inside.pid}/ns/user"):
            check(libc.setns(process, _CLONE_NEWUSER), "enter the sandbox's user namespace")
        fuse = os.open(FUSE, os.O_RDWR | os.O_CLOEXEC)
        check(libc.setns(process, _CLONE_NEWNS), "enter the sandbox's mount namespace")
    finally:
        os.close(process)
    # After these calls, new files belong to the user that the sandbox's programs run as.
    libc.setfsgid(inside.user)
    libc.setfsuid(inside.user)
    return fuse


def become_mounter() -> None:
    """Restore this process's file access capabilities, which root loses in `enter`.

    If `enter` entered a different user namespace, nothing is changed, because the process has kept the capabilities,
    and its user may not exist there.
    """
    libc.setfsuid(os.geteuid())
    libc.setfsgid(os.getegid())


def open_point(inside: Inside, *, create: bool = True, allowed: Container[str] = ()) -> int:
    """Open the empty directory to be covered by a mount. Return its descriptor.

    Args:
        inside: The mount point.
        create: Whether to create the directory if it is missing.
        allowed: Names of files that the directory may contain.

    Raises:
        OSError: `ENOTEMPTY`, `EBUSY` if another file system is mounted there, or any error from opening the directory.
    """
    point = os.open(inside.workspace, _WALK)
    device = os.fstat(point).st_dev
    for name in inside.path.split("/"):
        if create:
            with suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=point)
        point = _into(point, name)
        if os.fstat(point).st_dev != device:
            raise OSError(errno.EBUSY, "another file system is mounted there")
    readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=point)
    try:
        with os.scandir(readable) as entries:
            if any(entry.name not in allowed for entry in entries):
                raise OSError(errno.ENOTEMPTY, "the directory is not empty")
    finally:
        os.close(readable)
    return point


def open_parent(point: str, workspace: str) -> tuple[int, str]:
    """Open the parent directory of a path below the workspace. Return its descriptor and the last path component.

    Raises:
        OSError: The directory cannot be opened, or is not below the workspace.
    """
    if not point.startswith(f"{workspace}/"):
        raise OSError(errno.EINVAL, "the mount is not in the workspace")
    above, _, name = point.removeprefix(f"{workspace}/").rpartition("/")
    directory = os.open(workspace, _WALK)
    for step in filter(None, above.split("/")):
        directory = _into(directory, step)
    return directory, name


def _into(directory: int, name: str) -> int:
    """Open a subdirectory, and close its parent's descriptor. Raises `OSError`."""
    try:
        return os.open(name, _WALK, dir_fd=directory)
    finally:
        os.close(directory)


def create_fuse(fuse: int, id: str, user: int, *, read_only: bool) -> int:
    """Return a detached mount of a new FUSE file system. Raises `OSError`.

    Args:
        fuse: The descriptor of /dev/fuse.
        id: The id of the mount.
        user: The user and group for the mount options. All users in the sandbox can access the file system.
        read_only: Whether it is read-only.
    """
    options = {"source": NAME + id, "subtype": "hawse", "fd": fuse, "rootmode": "40000"}
    options |= {"user_id": user, "group_id": user}
    return create("fuse", options, ("allow_other", "default_permissions"), read_only=read_only)


def create(kind: str, options: Mapping[str, object], flags: Sequence[str], *, read_only: bool = False) -> int:
    """Return a detached mount of a new file system. Raises `OSError`.

    Args:
        kind: The file system type.
        options: Mount options that have a value, with their values.
        flags: Mount options that have no value.
        read_only: Whether it is read-only.
    """
    context = call(_FSOPEN, kind.encode(), _FSOPEN_CLOEXEC)
    try:
        for key, value in options.items():
            call(_FSCONFIG, context, _SET_STRING, key.encode(), str(value).encode(), 0)
        for flag in flags:
            call(_FSCONFIG, context, _SET_FLAG, flag.encode(), None, 0)
        call(_FSCONFIG, context, _CREATE, None, None, 0)
        return call(_FSMOUNT, context, _FSMOUNT_CLOEXEC, _NOSUID | _NODEV | (_RDONLY if read_only else 0))
    finally:
        os.close(context)


def attach(mount: int, point: int) -> None:
    """Attach a mount to a directory. Raises `OSError`."""
    call(_MOVE_MOUNT, mount, b"", point, b"", _EMPTY_PATHS)


def keep(mount: int) -> int:
    """Return a second, detached mount of a mount's file system. Raises `OSError`.

    The file system stays alive as long as the second mount is open, even after the sandbox has ended.
    """
    return call(_OPEN_TREE, mount, b"", _CLONE_HERE)


def detach(point: str, workspace: str, *, force: bool) -> None:
    """Unmount the mount at a path below the workspace. The process must have entered the sandbox.

    Args:
        point: The path of the mount in the sandbox.
        workspace: The path of the workspace in the sandbox.
        force: Whether to unmount it while programs are using it.

    Raises:
        OSError: `EBUSY` if programs are using it.
    """
    unmount(_beside(point, workspace), force=force)


def check_unused(point: str, workspace: str) -> None:
    """Check that no program is using the mount at a path below the workspace.

    The process must have entered the sandbox. If the mount has not been used since an earlier check that found it
    unused, it is unmounted (umount(2), MNT_EXPIRE).

    Args:
        point: The path of the mount in the sandbox.
        workspace: The path of the workspace in the sandbox.

    Raises:
        OSError: `EBUSY` if programs are using it.
    """
    name = _beside(point, workspace)
    with suppress(BlockingIOError):  # EAGAIN: the mount is unused, and the kernel has now marked it as such
        check(libc.umount2(os.fsencode(name), _UMOUNT_NOFOLLOW | _MNT_EXPIRE), "check whether programs are using it")


def _beside(point: str, workspace: str) -> str:
    """Change to the parent directory of a path below the workspace. Return the last component. Raises `OSError`."""
    directory, name = open_parent(point, workspace)
    os.fchdir(directory)
    os.close(directory)
    return name


def unmount(path: str, *, force: bool) -> None:
    """Unmount the mount at a path. With `force`, unmount it even if programs are using it. Raises `OSError`."""
    flags = _UMOUNT_NOFOLLOW | (_MNT_DETACH if force else 0)
    check(libc.umount2(os.fsencode(path), flags), "unmount")


def isolate() -> None:
    """Enter a new mount namespace and, unless run by root, a new user namespace. Raises `OSError`."""
    user, group = os.getuid(), os.getgid()
    check(libc.unshare(_CLONE_NEWNS | (_CLONE_NEWUSER if user else 0)), "unshare")
    if user:  # the user given in the file system's options must exist in the namespace
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
            Path(f"/proc/self/{name}").write_text(text)
