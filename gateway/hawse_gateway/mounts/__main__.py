"""`python -m hawse_gateway.mounts`: mounts a FUSE file system in a sandbox, and becomes the program that serves it.

The gateway starts this process with the plan on standard input. Only a child process enters the sandbox, because a
process that has entered it could no longer run rclone outside. rclone inherits the FUSE device and a separate mount
that keeps the file system alive. rclone can therefore finish uploading files after the sandbox has ended. When rclone
exits, the kernel closes the FUSE connection, and programs that use the mount get errors (ENOTCONN). squashfuse, which
serves the image of an overlay, does not inherit such a mount and exits along with the sandbox.
"""

import errno
import os
import socket
import sys

import msgspec

from hawse_gateway.core.confinement import confine
from hawse_gateway.mounts import namespaces, overlay
from hawse_gateway.mounts.plan import CACHE_FD, DIRECTORY_FD, FUSE_FD, IMAGE_FD, READY, MountPlan

FAILED = 2
ERROR_SIZE = 4096  # maximum size of a child's error report, in bytes
OUTPUT = 1
LOG_SIZE = 1 << 20  # maximum size in bytes of squashfuse's log, the only file that it writes


def main() -> int:
    plan = msgspec.json.decode(sys.stdin.buffer.read(), type=MountPlan)
    try:
        if plan.action == "unmount":
            return unmount(plan)
        if plan.action == "check":
            return check(plan)
        serve(plan)
    except OSError as error:
        print(f"the mount failed: {error}", file=sys.stderr)
        report(error)
    return FAILED


def report(error: OSError) -> None:
    """Write `ERRNO TEXT` to standard output, to be read by the gateway."""
    os.write(OUTPUT, f"{error.errno or errno.EIO} {error.strerror or error}"[:ERROR_SIZE].encode(errors="replace"))


def unmount(plan: MountPlan) -> int:
    """Unmount a mount from the sandbox, even if the process that served the mount has exited. Raises `OSError`."""
    inside = plan.inside
    assert inside is not None
    points = namespaces.mount_points(inside.pid, plan.id)
    if points or plan.discard:
        namespaces.enter(inside)
    for point in points:
        namespaces.detach(point, inside.workspace, force=plan.force)
    if plan.discard:
        for point in points or [f"{inside.workspace}/{inside.path}"]:
            overlay.remove(point, inside.workspace, plan.id)
    os.write(OUTPUT, READY)
    return 0


def check(plan: MountPlan) -> int:
    """Check that no program is using the mount. Raises `OSError` (`EBUSY` if a program is using it)."""
    inside = plan.inside
    assert inside is not None
    if points := namespaces.mount_points(inside.pid, plan.id):
        namespaces.enter(inside)
    for point in points:
        namespaces.check_unused(point, inside.workspace)
    os.write(OUTPUT, READY)
    return 0


def serve(plan: MountPlan) -> None:
    """Mount the file system, and then execute rclone or squashfuse. Raises `OSError`."""
    fds = mount(plan)
    os.dup2(fds[0], FUSE_FD)
    for kept in fds[1:]:
        os.set_inheritable(kept, True)
    for path, fd in ((plan.cache, CACHE_FD), (plan.directory, DIRECTORY_FD)):
        if path is not None:
            os.dup2(os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC), fd)
    if plan.image is not None:
        os.dup2(os.open(plan.image, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), IMAGE_FD)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, OUTPUT)  # the child process that reports success has its own copy
    os.chdir("/")
    os.umask(0o022)
    if plan.image is not None:
        user = None if plan.user is None else plan.user[0]
        confine(user=user, memory=plan.memory, file_size=LOG_SIZE, read=[IMAGE_FD])
    elif plan.user is not None:
        user, group = plan.user
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    os.execve(plan.argv[0], plan.argv, plan.env)


def mount(plan: MountPlan) -> list[int]:
    """Mount the file system. Raises `OSError`.

    Returns the FUSE device's descriptor and, for rclone, another descriptor that keeps the file system alive.

    The child that mounted the file system waits for the file system to respond, reports success to the gateway, and
    exits.
    """
    ours, theirs = socket.socketpair()
    with ours:
        if (first := os.fork()) == 0:
            if os.fork() == 0:
                ours.close()
                _in_child(plan, theirs)
            os._exit(0)
        os.waitpid(first, 0)  # leaves the second child to init, because rclone wouldn't reap it
        theirs.close()
        message, fds, _, _ = socket.recv_fds(ours, ERROR_SIZE, 2)
        if not fds:
            number, _, text = message.decode(errors="replace").partition(" ")
            raise OSError(int(number) if number.isdigit() else errno.EIO, text or "the mount failed")
        return fds


def _in_child(plan: MountPlan, parent: socket.socket) -> None:
    """Mount the file system, send its descriptors, wait for a response, and report success. Never returns."""
    try:
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fuse, made, other = _make(plan)
        except OSError as error:
            parent.send(f"{error.errno or errno.EIO} {error.strerror or error}".encode(errors="replace"))
            os._exit(FAILED)
        socket.send_fds(parent, [b"0"], [fuse] if plan.image is not None else [fuse, other])
        parent.close()
        os.close(fuse)  # closed here, so that the FUSE connection ends when rclone or squashfuse exits
        try:
            if plan.image is not None:
                made = overlay.attach(made, other, plan.id, proc)
            _look(made, listing=plan.check)
        except OSError as error:
            report(error)
            if plan.inside is not None:
                namespaces.detach(f"{plan.inside.workspace}/{plan.inside.path}", plan.inside.workspace, force=True)
            os._exit(FAILED)
        os.write(OUTPUT, READY)
        os._exit(0)
    finally:
        os._exit(FAILED)


def _make(plan: MountPlan) -> tuple[int, int, int]:
    """Create the FUSE file system. Raises `OSError`.

    Returns:
        Three descriptors: the device, the mount, and a third one. For an image, the mount is detached, and the third
        descriptor is the overlay's directory. Otherwise, the mount is attached, and the third descriptor is a detached
        mount of the same file system.
    """
    if plan.inside is None:
        namespaces.isolate()
        fuse = os.open(namespaces.FUSE, os.O_RDWR | os.O_CLOEXEC)
        made = namespaces.create_fuse(fuse, plan.id, 0, read_only=plan.read_only)
        return fuse, made, made
    fuse = namespaces.enter(plan.inside)
    if plan.image is not None:
        point = overlay.open_point(plan.inside, plan.id, new=plan.check)
        return fuse, namespaces.create_fuse(fuse, plan.id, plan.inside.user, read_only=True), point
    point = namespaces.open_point(plan.inside)
    made = namespaces.create_fuse(fuse, plan.id, plan.inside.user, read_only=plan.read_only)
    namespaces.attach(made, point)
    return fuse, made, namespaces.keep(made)


def _look(made: int, *, listing: bool) -> None:
    """Wait for the file system to respond. Raises `OSError`."""
    root = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=made)
    try:
        if listing:
            with os.scandir(root) as entries:
                next(entries, None)
    finally:
        os.close(root)


if __name__ == "__main__":
    sys.exit(main())
