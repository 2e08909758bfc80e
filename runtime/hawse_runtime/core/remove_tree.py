"""Remove a directory of the runtime in which user programs may have written anything."""

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path


def remove_tree(folder: str | Path) -> None:
    """Remove `folder`. Nothing is raised: files that cannot be removed stay.

    `shutil.rmtree` recurses, and opens a descriptor, for each level of directories, so it fails in a deep tree. `rm`
    does not.
    """
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):
        with suppress(OSError):  # no descriptor or process is free
            subprocess.run(["rm", "-rf", "--", os.fspath(folder)], check=False, stderr=subprocess.DEVNULL)
