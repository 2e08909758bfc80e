"""Deno, for the tests of code contexts. `make pytest` installs it in tests/kernels."""

import os
from pathlib import Path

_MODULES = Path(__file__).parents[1] / "kernels" / "node_modules"


def path_with_deno() -> str:
    """Return a PATH that includes Deno."""
    program = next(_MODULES.glob("@deno/*/deno"), None)
    assert program is not None, "`make pytest` installs tests/kernels"
    return f"{os.environ['PATH']}:{program.parent}"
