"""An overlay in the mount namespace of a sandbox: a read-only image below, and the changes above.

The changes are in a directory of the mount point itself, which the overlay covers. They are therefore part of the
sandbox's files, count like them, and are kept at the next start. The calling process has entered the sandbox, as
described in `namespaces`.
"""

import errno
import os
import shutil
import stat
from contextlib import suppress

from hawse_gateway.mounts import namespaces
from hawse_gateway.mounts.plan import NAME, Inside

_DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_OVERLAYS = (errno.EINVAL, errno.ENODEV, errno.EOPNOTSUPP, errno.EPERM)


def changes(id: str) -> str:
    """Return the name of the directory with the changes of the mount `id`, below its mount point."""
    return f".hawse-{id}"


def open_point(inside: Inside, id: str, *, new: bool) -> int:
    """Return a descriptor of the directory that an overlay will cover.

    Args:
        inside: The place.
        id: The id of the mount.
        new: Whether it is mounted for the first time: a missing directory is then created. Later it is an error, since
            the changes are missing with it.

    Raises:
        OSError: The same as `namespaces.open_point`.
    """
    try:
        return namespaces.open_point(inside, create=new, allowed=(changes(id),))
    except FileNotFoundError:
        text = "the directory was moved or deleted: move it back, or create an empty one, which loses the changes"
        raise FileNotFoundError(errno.ENOENT, text) from None


def attach(image: int, point: int, id: str, proc: int) -> int:
    """Attach an overlay to a directory and return its mount.

    The kernel takes the layers by path, so they are named by descriptors: programs can change any path in the sandbox.

    Args:
        image: The mount of the image, not attached but already served. It is closed.
        point: The directory.
        id: The id of the mount.
        proc: The descriptor of /proc, opened outside: the sandbox's /proc does not contain this process.

    Raises:
        OSError: `ENOTSUP` if the kernel or the directory's file system does not support it, or any other failure.
    """
    upper, work = _layers(image, point, id)
    # Before Linux 6.15, a layer must be attached in the namespace. The overlay keeps a separate mount of it.
    namespaces.attach(image, point)
    try:
        os.fchdir(proc)
        layers = {"lowerdir": image, "upperdir": upper, "workdir": work}
        options = {key: f"self/fd/{fd}" for key, fd in layers.items()}
        options |= {"source": NAME + id, "index": "off"}  # to the kernel, the image's next mount is a different one
        overlay = namespaces.create("overlay", options, ("userxattr",))
    except OSError as error:
        if error.errno not in _NO_OVERLAYS:
            raise
        text = f"the kernel or the workspace's file system lacks overlays ({error.strerror}): use the mode `copy`"
        raise OSError(errno.ENOTSUP, text) from error
    finally:
        os.fchdir(image)
        namespaces.unmount(".", force=True)
        os.chdir("/")
        for fd in (image, upper, work):
            os.close(fd)
    namespaces.attach(overlay, point)
    return overlay


def remove(place: str, workspace: str, id: str) -> None:
    """Remove the changes of an overlay that is no longer mounted. Raises `OSError`.

    Args:
        place: The path of its mount point.
        workspace: The path of the workspace.
        id: The id of the mount.
    """
    namespaces.become_mounter()
    with suppress(FileNotFoundError, NotADirectoryError):
        above, name = namespaces.open_parent(place, workspace)
        point = os.open(name, os.O_PATH | _DIRECTORY, dir_fd=above)
        shutil.rmtree(changes(id), dir_fd=point)


def _layers(image: int, point: int, id: str) -> tuple[int, int]:
    """Return descriptors of the directories for the changes and for the kernel's work; create missing ones."""
    home = _made(point, changes(id), 0o700)
    try:
        os.stat("upper", dir_fd=home, follow_symlinks=False)
        new = False
    except FileNotFoundError:
        new = True
    upper, work = _made(home, "upper", 0o700), _made(home, "work", 0o700)
    os.close(home)
    namespaces.become_mounter()
    if new:  # the changes include the top directory
        os.fchmod(upper, stat.S_IMODE(os.fstat(image).st_mode))
    return upper, work


def _made(directory: int, name: str, mode: int) -> int:
    with suppress(FileExistsError):
        os.mkdir(name, mode, dir_fd=directory)
    return os.open(name, os.O_RDONLY | _DIRECTORY, dir_fd=directory)
