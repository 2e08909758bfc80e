"""The `hawse` command. Each sub-command has a module of its own."""

import argparse
from collections.abc import Sequence
from importlib.metadata import version

from hawse.cli import serve


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 if it succeeded, 2 if its options cannot be used."""
    parser = argparse.ArgumentParser(prog="hawse", description="Work with sandboxes over one WebSocket.")
    parser.add_argument("--version", action="version", version=f"hawse {version('hawse')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    serve.add_parser(commands)
    arguments = parser.parse_args(argv)
    code: int = arguments.run(arguments)
    return code
