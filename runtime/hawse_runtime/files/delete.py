"""`file.delete`: deletes a file or, if `recursive` is set, a directory. Uses descriptors, like `shutil.rmtree`."""

import os
import stat
from collections.abc import Generator
from contextlib import closing

from hawse.api.files import FileDelete, FileDeleteResult
from hawse.api.paths import to_text
from hawse.wire import HawseError
from hawse_runtime.files.listing import DIRECTORY
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.walk import DEPTH_LIMIT, Leave, Turns, WalkError, walk

LIMIT = 2 * DEPTH_LIMIT  # maximum depth; greater than in other methods, so that everything they create can be deleted

Steps = Generator[None, None, FileDeleteResult]


def delete(place: RootedPath, params: FileDelete) -> Steps:
    """Delete a file or directory. If an entry can't be deleted, the error's `details.path` names it.

    Raises:
        HawseError: `is_directory` if `place` is a directory and `recursive` is not set.
    """
    with place.parent() as (folder, name):
        return (yield from delete_at(folder, name, recursive=params.recursive))


def delete_at(folder: int, name: str, *, recursive: bool) -> Steps:
    """Delete the entry `name` in the directory `folder`, like `delete`."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode):
        os.unlink(name, dir_fd=folder)
        return FileDeleteResult(deleted=1)
    if not recursive:
        raise HawseError("is_directory", "the path is a directory; set `recursive` to delete it")
    deleted = yield from _empty(folder, name)
    os.rmdir(name, dir_fd=folder)
    return FileDeleteResult(deleted=deleted + 1)


def _empty(folder: int, name: str) -> Generator[None, None, int]:
    """Delete all entries in a directory and return how many there were."""
    deleted = 0
    turns = Turns()
    top = os.open(name, DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        with closing(walk(top, limit=LIMIT)) as found:
            for item in found:
                if isinstance(item, WalkError):
                    details = {"path": to_text(item.path)}
                    raise HawseError(item.error.code, item.error.message, admitted="yes", details=details)
                if isinstance(item, Leave):
                    os.rmdir(item.names[-1], dir_fd=item.folder)
                    deleted += 1
                elif item is not None and not item.is_directory:
                    os.unlink(item.names[-1], dir_fd=item.folder)
                    deleted += 1
                if turns.due():
                    yield
        return deleted
    finally:
        os.close(top)
