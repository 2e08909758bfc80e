"""Removes one of the runtime's directories, whose contents may come from user programs."""

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path


def remove_tree(folder: str | Path) -> None:
    """Remove `folder`. Files that can't be removed are left in place; no error is raised.

    `shutil.rmtree` recurses and opens a descriptor per level, so it fails on deep trees. `rm` doesn't.
    """
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        with suppress(OSError):  # no descriptor or process is available
            subprocess.run(["rm", "-rf", "--", os.fspath(folder)], check=False, stderr=subprocess.DEVNULL)
