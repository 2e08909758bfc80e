"""The `hawse` command."""

import gc
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 if it succeeded, 2 if its options cannot be used."""
    gc.disable()  # until the modules are loaded: there is nothing to collect (hawse/cli/command.py)
    try:
        from hawse.cli.command import main as run

        return run(argv)
    finally:
        gc.enable()
