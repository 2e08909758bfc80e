"""Remove a directory of the runtime that user programs may have written to."""

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path


def remove_tree(folder: str | Path) -> None:
    """Remove `folder`. Files that cannot be removed stay; nothing is raised.

    `shutil.rmtree` recurses and opens a descriptor at each level, so it fails in deep trees. `rm` does not.
    """
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        with suppress(OSError):  # no free descriptor or process
            subprocess.run(["rm", "-rf", "--", os.fspath(folder)], check=False, stderr=subprocess.DEVNULL)
