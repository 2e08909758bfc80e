"""Remove a directory of ours in which others wrote: what they left there is no reason to fail."""

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path


def remove_tree(folder: str | Path) -> None:
    """Nothing is raised: what cannot be removed stays.

    `shutil.rmtree` calls itself, and opens a descriptor, for every directory within one: of a deep tree it leaves
    something. `rm` does not.
    """
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        with suppress(OSError):  # neither a descriptor nor a process to be had
            subprocess.run(["rm", "-rf", "--", os.fspath(folder)], check=False, stderr=subprocess.DEVNULL)
