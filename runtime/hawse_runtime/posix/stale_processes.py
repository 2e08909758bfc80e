"""Ends processes left behind by a killed runtime. The mark in their environment identifies them.

A runtime stores its id in a file, which it removes on exit. If the next runtime with the same state directory finds the
file, the earlier one was killed. The lock on the socket guarantees that it has exited.
"""

import logging
import re
import signal

from hawse.wire import HawseError
from hawse_runtime.core.folder import Folder
from hawse_runtime.posix.process_table import RUNTIME_MARK
from hawse_runtime.posix.process_tree import NO_ROOT, ProcessTrees

log = logging.getLogger(__name__)

GRACE = 0.5  # seconds from SIGTERM to SIGKILL; short, because a gateway is waiting for the runtime
ID_FILE = "runtime.id"
_ID = re.compile(r"[0-9a-f]{16}")


class RuntimeIdFile:
    """The file that contains the id of the runtime using a state directory."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def read(self) -> str | None:
        """Return the killed runtime's id, or None if the file is missing or invalid."""
        try:
            text = self._folder.read(ID_FILE).decode("ascii", errors="replace")
        except FileNotFoundError:
            return None
        return text if _ID.fullmatch(text) else None

    def write(self, runtime_id: str) -> None:
        """Replace the file atomically. After a crash, it contains either the old or the new id."""
        self._folder.write(ID_FILE, runtime_id.encode())

    def remove(self) -> None:
        self._folder.unlink(ID_FILE)


async def end_stale_processes(trees: ProcessTrees, runtime_id: str) -> None:
    """End all processes started by the runtime `runtime_id`. Any that survive SIGKILL are logged."""
    mark = f"{RUNTIME_MARK}={runtime_id}"
    members = (await trees.table()).members(NO_ROOT, mark, reaped=True)
    if not members:
        return
    log.warning("! runtime %s was killed; ending its %d processes", runtime_id, len(members))
    try:
        await trees.end(NO_ROOT, signal.SIGTERM, GRACE, lambda: True, mark=mark)
    except HawseError as error:
        log.error("! runtime %s: %s", runtime_id, error.message)
