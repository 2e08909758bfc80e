"""`python -m gateway.mounts`: mounts a FUSE file system in a sandbox and becomes the rclone that serves it.

The gateway starts it, with the plan on standard input. A child enters the sandbox, since a process that has done so
could not run rclone outside. rclone inherits the FUSE device, and a mount of its own that keeps the file system alive:
so it can upload what was written also when the sandbox has ended. When rclone ends, however it does, the kernel ends
the connection, and programs get errors (ENOTCONN).
"""

import errno
import os
import socket
import sys

import msgspec

from gateway.mounts import namespaces
from gateway.mounts.plan import CACHE_FD, DIRECTORY_FD, FUSE_FD, READY, Plan

FAILED = 2
ERROR_SIZE = 4096  # bytes of the report of a child
OUTPUT = 1


def main() -> int:
    plan = msgspec.json.decode(sys.stdin.buffer.read(), type=Plan)
    try:
        if plan.action == "unmount":
            return unmount(plan)
        serve(plan)
    except OSError as error:
        print(f"the mount was not made: {error}", file=sys.stderr)
        report(error)
    return FAILED


def report(error: OSError) -> None:
    """Write `ERRNO TEXT` to standard output, for the gateway."""
    os.write(OUTPUT, f"{error.errno or errno.EIO} {error.strerror or error}"[:ERROR_SIZE].encode(errors="replace"))


def unmount(plan: Plan) -> int:
    """Remove the mount from the sandbox, also one whose rclone has ended. Raises `OSError`."""
    assert plan.inside is not None
    if points := namespaces.mount_points(plan.inside.pid, plan.id):
        namespaces.enter(plan.inside)
        for point in points:
            namespaces.detach(point, plan.inside.workspace, force=plan.force)
    os.write(OUTPUT, READY)
    return 0


def serve(plan: Plan) -> None:
    """Become rclone. Raises `OSError`."""
    fuse, kept = mount(plan)
    os.set_inheritable(kept, True)
    os.dup2(fuse, FUSE_FD)
    for path, fd in ((plan.cache, CACHE_FD), (plan.directory, DIRECTORY_FD)):
        if path is not None:
            os.dup2(os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC), fd)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, OUTPUT)  # the child that waits until it is ready has its own
    if plan.user is not None:
        user, group = plan.user
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    os.umask(0o022)
    os.chdir("/")
    os.execve(plan.argv[0], plan.argv, plan.env)


def mount(plan: Plan) -> tuple[int, int]:
    """Return the FUSE device and a descriptor that keeps the file system alive. Raises `OSError`.

    The child that has made it stays until rclone serves it, reports that, and ends.
    """
    ours, theirs = socket.socketpair()
    with ours:
        if (first := os.fork()) == 0:
            if os.fork() == 0:
                ours.close()
                _in_child(plan, theirs)
            os._exit(0)
        os.waitpid(first, 0)  # the second one is no child of rclone, which would not wait for it
        theirs.close()
        message, fds, _, _ = socket.recv_fds(ours, ERROR_SIZE, 2)
        if len(fds) != 2:
            number, _, text = message.decode(errors="replace").partition(" ")
            raise OSError(int(number) if number.isdigit() else errno.EIO, text or "the mount was not made")
        return fds[0], fds[1]


def _in_child(plan: Plan, parent: socket.socket) -> None:
    """Make the mount, send the descriptors, wait until rclone answers, and report that. Does not return."""
    try:
        try:
            if plan.inside is None:
                namespaces.isolate()
                fuse, user = os.open(namespaces.FUSE, os.O_RDWR | os.O_CLOEXEC), 0
                made = kept = namespaces.create_file_system(fuse, plan.id, user, read_only=plan.read_only)
            else:
                fuse = namespaces.enter(plan.inside)
                point = namespaces.open_point(plan.inside)
                made = namespaces.create_file_system(fuse, plan.id, plan.inside.user, read_only=plan.read_only)
                kept = namespaces.attach(made, point)
        except OSError as error:
            parent.send(f"{error.errno or errno.EIO} {error.strerror or error}".encode(errors="replace"))
            os._exit(FAILED)
        socket.send_fds(parent, [b"0"], [fuse, kept])
        parent.close()
        os.close(fuse)  # only rclone has it: it ends with rclone
        try:
            _look(made, listing=plan.check)
        except OSError as error:
            report(error)
            if plan.inside is not None:
                os.close(made)
                namespaces.detach(f"{plan.inside.workspace}/{plan.inside.path}", plan.inside.workspace, force=True)
            os._exit(FAILED)
        os.write(OUTPUT, READY)
        os._exit(0)
    finally:
        os._exit(FAILED)


def _look(made: int, *, listing: bool) -> None:
    """Wait for an answer of the file system. Raises `OSError`."""
    root = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=made)
    try:
        if listing:
            with os.scandir(root) as entries:
                next(entries, None)
    finally:
        os.close(root)


if __name__ == "__main__":
    sys.exit(main())
