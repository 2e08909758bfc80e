"""An overlay in a sandbox's mount namespace, which combines a read-only image and a layer with the changes.

The changes are stored in a directory inside the mount point, which is hidden while the overlay covers the mount point.
The changes are therefore part of the sandbox's files, count toward the sandbox's limits, and are kept when the sandbox
is restarted. The calling process must have entered the sandbox (see `namespaces`).
"""

import errno
import os
import stat
from contextlib import suppress

from hawse_gateway.core.removal import remove_tree
from hawse_gateway.mounts import namespaces
from hawse_gateway.mounts.plan import NAME, Inside

_DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_OVERLAYS = (errno.EINVAL, errno.ENODEV, errno.EOPNOTSUPP, errno.EPERM)


def changes(id: str) -> str:
    """Return the name of the directory inside the mount point that contains the changes to the mount `id`."""
    return f".hawse-{id}"


def open_point(inside: Inside, id: str, *, new: bool) -> int:
    """Open the directory to be covered by an overlay. Return its descriptor.

    Args:
        inside: The mount point.
        id: The id of the mount.
        new: Whether the overlay is mounted for the first time. In this case, a missing directory is created. Later on,
            a missing directory is an error, because the changes are missing as well.

    Raises:
        OSError: See `namespaces.open_point`.
    """
    try:
        return namespaces.open_point(inside, create=new, allowed=(changes(id),))
    except FileNotFoundError:
        text = "the directory was moved or deleted: move it back, or create an empty one, which loses the changes"
        raise FileNotFoundError(errno.ENOENT, text) from None


def attach(image: int, point: int, id: str, proc: int) -> int:
    """Attach an overlay to a directory. Return the mount.

    The kernel expects paths to the layers. It gets paths to descriptors in /proc, because programs can change any path
    in the sandbox.

    Args:
        image: The detached mount of the image, whose file system must respond. This function closes it.
        point: The directory.
        id: The id of the mount.
        proc: A descriptor of the host's /proc. The sandbox's own /proc doesn't contain this process.

    Raises:
        OSError: `ENOTSUP` if the kernel or the directory's file system does not support overlays, or another error.
    """
    upper, work = _layers(image, point, id)
    # Before Linux 6.15, layers must be attached in the namespace while the overlay is created.
    namespaces.attach(image, point)
    try:
        os.fchdir(proc)
        layers = {"lowerdir": image, "upperdir": upper, "workdir": work}
        options = {key: f"self/fd/{fd}" for key, fd in layers.items()}
        # "index" is off, because it requires the image to stay the same file system, but the kernel treats each mount
        # of the image as a different one.
        options |= {"source": NAME + id, "index": "off"}
        overlay = namespaces.create("overlay", options, ("userxattr",))
    except OSError as error:
        if error.errno not in _NO_OVERLAYS:
            raise
        text = (
            f"the kernel or the workspace's file system does not support overlays ({error.strerror}): "
            "use the mode `copy`"
        )
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
    """Remove the changes to an overlay that is no longer mounted. Raises `OSError`.

    Args:
        place: The path to the overlay's mount point.
        workspace: The path of the workspace.
        id: The id of the mount.
    """
    namespaces.become_mounter()
    with suppress(FileNotFoundError, NotADirectoryError):
        above, name = namespaces.open_parent(place, workspace)
        point = os.open(name, os.O_PATH | _DIRECTORY, dir_fd=above)
        remove_tree(changes(id), dir_fd=point)


def _layers(image: int, point: int, id: str) -> tuple[int, int]:
    """Open the directories for the changes and for the kernel's work files. Missing directories are created."""
    home = _made(point, changes(id), 0o700)
    try:
        os.stat("upper", dir_fd=home, follow_symlinks=False)
        new = False
    except FileNotFoundError:
        new = True
    upper, work = _made(home, "upper", 0o700), _made(home, "work", 0o700)
    os.close(home)
    namespaces.become_mounter()
    if new:  # the changes include the top directory's mode, so it must start with the image's mode
        os.fchmod(upper, stat.S_IMODE(os.fstat(image).st_mode))
    return upper, work


def _made(directory: int, name: str, mode: int) -> int:
    with suppress(FileExistsError):
        os.mkdir(name, mode, dir_fd=directory)
    return os.open(name, os.O_RDONLY | _DIRECTORY, dir_fd=directory)
