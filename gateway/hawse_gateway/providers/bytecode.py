"""Compiles the runtime's modules, unless they were compiled when hawse was installed.

In an isolated sandbox, the modules are read-only. Without bytecode, they would be compiled on each start, which would
take longer than the rest of the start.
"""

import importlib.util
import logging
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

PACKAGES: Final = ("hawse", "hawse_runtime")
TIMEOUT: Final = 60.0  # s
# Importing the runtime also compiles the modules that it imports from other packages.
PROGRAM: Final = "import compileall, sys; import hawse_runtime.__main__; compileall.compile_dir(sys.argv[1], quiet=2)"


@cache  # once per gateway
def compile_runtime() -> None:
    """Compile modules with missing or outdated bytecode in a separate process. Blocks. Failures are only logged."""
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        for place in (spec and spec.submodule_search_locations) or ():
            package = Path(place)
            if os.access(package, os.W_OK) and not is_compiled(package):
                _compile(package)


def is_compiled(package: Path) -> bool:
    """Return whether all modules in a package have up-to-date bytecode."""
    for source in package.rglob("*.py"):
        try:
            compiled = os.stat(importlib.util.cache_from_source(str(source)))
        except FileNotFoundError:
            return False
        if compiled.st_mtime < source.stat().st_mtime:
            return False
    return True


def _compile(package: Path) -> None:
    try:
        subprocess.run(
            [sys.executable, "-I", "-c", PROGRAM, str(package)],
            check=True,
            capture_output=True,
            timeout=TIMEOUT,
        )
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("! could not compile %s, so sandboxes start slowly: %s", package, error)
