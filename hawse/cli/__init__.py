"""The `hawse` command."""

from hawse.cli.command import main

__all__ = ["main"]
