"""Switches from root to another user, and then executes bubblewrap. Used if the gateway runs as root.

User code must never run with the host's uid 0, but the sandbox's files can be in directories that only root can enter,
such as /root. Before switching users, this program therefore bind-mounts the files' directories at an accessible path
in a separate mount namespace (docs/decisions/0086).

The file is run without site-packages and without importing this package (`python -I -S launch.py PLAN`), which saves
most of Python's startup time.
"""

import ctypes
import errno
import json
import os
import resource
import sys

STAGE = "/mnt"  # mount point in the new mount namespace; the directory exists on every Linux (FHS 3.0)
CLONE_NEWNS, CLONE_NEWIPC = 0x20000, 0x8000000
# Limits for System V IPC (proc_sys_kernel(5)), which uses kernel memory that is kept when programs exit. By default,
# this memory is unlimited, and semaphores alone can use up the machine's memory. These limits are high enough for
# databases. `sem` limits semaphores per array, semaphores in total, operations per call, and arrays. The others limit
# pages and queues.
IPC = {"sem": "32000 64000 500 4096", "shmall": "262144", "msgmni": "256"}
MS_BIND, MS_REC, MS_PRIVATE, MS_NOSUID, MS_NODEV = 0x1000, 0x4000, 0x40000, 0x2, 0x4
FAILED = 125  # exit code, as in env(1)


def main() -> None:
    plan = json.loads(sys.argv[1])
    try:
        stage(plan["stage"], plan["disk"], plan["uid"])
        bound_ipc()
        if plan["processes"] is not None:
            resource.setrlimit(resource.RLIMIT_NPROC, (plan["processes"], plan["processes"]))
        become(plan["uid"])
        os.execv(plan["argv"][0], plan["argv"])
    except OSError as error:
        print(f"cannot start the sandbox: {error}", file=sys.stderr)
        sys.exit(FAILED)


def stage(sources: list[str], disk: list[str] | None, uid: int) -> None:
    """Bind-mount the directories at STAGE/0, STAGE/1 and so on, visible only to this process and its children.

    Args:
        sources: The directories.
        disk: The path to mount(8), a file containing a file system, and the directory in `sources` where the file
            system is mounted first. None if there is no such file.
        uid: The owner of that file system's root directory.
    """
    libc = ctypes.CDLL(None, use_errno=True)

    def check(result: int, what: str) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")

    def mount(source: str, target: str, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
        check(libc.mount(os.fsencode(source), os.fsencode(target), kind, ctypes.c_ulong(flags), options), target)

    check(libc.unshare(CLONE_NEWNS), "unshare")
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    if disk is not None:
        program, image, target = disk
        mount_disk(program, image, target, uid)
    fds = [os.open(source, os.O_PATH) for source in sources]  # opened first, because the next mount can hide them
    mount("tmpfs", STAGE, b"tmpfs", MS_NOSUID | MS_NODEV, b"size=64k,mode=0755")
    for number, fd in enumerate(fds):
        target = f"{STAGE}/{number}"
        os.mkdir(target)
        mount(f"/proc/self/fd/{fd}", target, None, MS_BIND | MS_REC)
        os.close(fd)


def bound_ipc() -> None:
    """Enter a new IPC namespace with limits that only root can set. Raises `OSError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWIPC) != 0:
        raise OSError(ctypes.get_errno(), f"unshare: {os.strerror(ctypes.get_errno())}")
    for name, value in IPC.items():
        try:
            with open(f"/proc/sys/kernel/{name}", "w") as file:
                file.write(value)
        except OSError as error:  # /proc/sys is read-only in some containers
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT):
                raise


def mount_disk(program: str, image: str, target: str, uid: int) -> None:
    """Mount a file with an ext4 file system. The loop device is released when the file system is unmounted.

    Args:
        program: The path to mount(8).
        image: The file containing the file system.
        target: The directory to mount it on.
        uid: The owner of the file system's root directory.
    """
    options = "loop,nosuid,nodev,noatime,errors=remount-ro"
    if os.spawnv(os.P_WAIT, program, [program, "-t", "ext4", "-o", options, image, target]) != 0:
        raise OSError(errno.EIO, f"cannot mount {image}")
    os.chown(target, uid, uid)
    os.chmod(target, 0o700)
    try:
        os.rmdir(os.path.join(target, "lost+found"))
    except OSError:
        pass  # lost+found is missing, or contains files recovered by fsck


def become(uid: int) -> None:
    """Switch from root to `uid`, which drops all capabilities."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    os.umask(0o022)
    os.chdir("/")


if __name__ == "__main__":
    main()
