"""Ends what a killed runtime has left running, by the mark that all its processes have in their environments.

A runtime that ends removes the file with its id; if the next runtime of the same state directory finds one, the
earlier runtime was killed. The lock of the socket guarantees that it doesn't run any more.
"""

import logging
import os
import re
import signal
from contextlib import suppress
from pathlib import Path

from hawse.wire import HawseError
from runtime.posix.process_table import RUNTIME_MARK
from runtime.posix.process_tree import NO_ROOT, ProcessTrees

log = logging.getLogger(__name__)

GRACE = 0.5  # seconds from TERM to KILL: a gateway waits for the runtime to start
_ID = re.compile(r"[0-9a-f]{16}")


class RuntimeIdFile:
    """A file with the id of the runtime that uses a state directory."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> str | None:
        """Return the id of a runtime that was killed; None if there is none, or if the file has other content."""
        try:
            text = self._path.read_text(encoding="ascii", errors="replace")
        except FileNotFoundError:
            return None
        return text if _ID.fullmatch(text) else None

    def write(self, runtime_id: str) -> None:
        """Replace the file: after a crash at any moment it has the old id or the new one."""
        new = self._path.with_name(f"{self._path.name}.new")
        new.write_text(runtime_id, encoding="ascii")
        os.replace(new, self._path)

    def remove(self) -> None:
        with suppress(FileNotFoundError):
            self._path.unlink()


async def end_stale_processes(trees: ProcessTrees, runtime_id: str) -> None:
    """End all processes that the runtime with `runtime_id` started. What survives SIGKILL is logged."""
    mark = f"{RUNTIME_MARK}={runtime_id}"
    members = (await trees.table()).members(NO_ROOT, mark, reaped=True)
    if not members:
        return
    log.warning("! runtime %s was killed: %d of its processes are ended", runtime_id, len(members))
    try:
        await trees.end(NO_ROOT, signal.SIGTERM, GRACE, lambda: True, mark=mark)
    except HawseError as error:
        log.error("! runtime %s: %s", runtime_id, error.message)
