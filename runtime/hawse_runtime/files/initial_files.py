"""The files that a template puts into the workspace of a new sandbox: written once, before any call of a client."""

import asyncio
from collections.abc import Mapping

from hawse.rpc import typed
from hawse_runtime.core.folder import Folder
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.files.atomic_replace import AtomicReplacement
from hawse_runtime.files.rooted_path import PathResolver, RootedPath

WRITTEN = "initial-files"  # exists in the private directory when they have been written


class InitialFiles:
    """Writes the files, unless this runtime or an earlier one of the sandbox has written them."""

    def __init__(self, resolver: PathResolver, disk: ThreadPool, private: Folder | None) -> None:
        """Write nothing yet.

        Args:
            resolver: Knows the workspace, in which the paths begin.
            disk: The threads in which files are written, as the user of programs.
            private: The directory of the runtime's own files. None: they are written once for each runtime.
        """
        self._resolver = resolver
        self._disk = disk
        self._private = private
        self._written = private is not None and WRITTEN in private.names()
        self._writing = asyncio.Lock()

    async def write(self, files: Mapping[str, str]) -> None:
        """Write the files, by path, and replace those that an image has there. Raises `HawseError`."""
        async with self._writing:
            if self._written or not files:
                return
            subject = None
            try:
                for path, text in files.items():
                    subject = path
                    await self._disk.run(_write, self._resolver.place(path), text.encode())
                if self._private is not None:
                    self._private.write(WRITTEN, b"")
            except Exception as error:
                raise typed(error, subject) from error
            self._written = True


def _write(place: RootedPath, data: bytes) -> None:
    file = AtomicReplacement(place, parents=True)
    try:
        with open(file.fd, "wb", closefd=False) as output:
            output.write(data)
        file.commit()
    except BaseException:
        file.discard()
        raise
