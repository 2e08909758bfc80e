"""Writes a template's files to a new sandbox's workspace, once, before any client can make a call."""

import asyncio
from collections.abc import Mapping

from hawse.rpc import typed
from hawse_runtime.core.folder import Folder
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.files.atomic_replace import AtomicReplacement
from hawse_runtime.files.rooted_path import PathResolver, RootedPath

WRITTEN = "initial-files"  # file in the private directory; exists once the template's files have been written


class InitialFiles:
    """Writes the template's files, unless a previous runtime of this sandbox has already done so."""

    def __init__(self, resolver: PathResolver, disk: ThreadPool, private: Folder | None) -> None:
        """Create the writer, without writing anything.

        Args:
            resolver: Resolves paths relative to the workspace.
            disk: The thread pool for writing files as the user that the sandbox's programs run as.
            private: The runtime's private directory. Without it, each new runtime writes the files.
        """
        self._resolver = resolver
        self._disk = disk
        self._private = private
        self._written = private is not None and WRITTEN in private.names()
        self._writing = asyncio.Lock()

    async def write(self, files: Mapping[str, str]) -> None:
        """Write the files, which are keyed by path. Files that exist in the image are replaced. Raises `HawseError`."""
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
