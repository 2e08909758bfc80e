"""Remove a directory of ours in which others wrote: what they left there is no reason to fail."""

import os
import shutil
import subprocess
from pathlib import Path


def remove_tree(folder: str | Path) -> None:
    """Nothing is raised: what cannot be removed stays.

    `shutil.rmtree` calls itself for every directory within one, and gives up with `RecursionError` at about a
    thousand (Python before 3.13); `rm` does not.
    """
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        subprocess.run(["rm", "-rf", "--", os.fspath(folder)], check=False, stderr=subprocess.DEVNULL)
