"""`hawse`: its sub-commands, each in a module of its own."""

import argparse
from collections.abc import Sequence
from importlib.metadata import version

from hawse.cli import serve


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 done, 2 what was asked for can't be done."""
    parser = argparse.ArgumentParser(prog="hawse", description="One WebSocket for all that is done with a sandbox.")
    parser.add_argument("--version", action="version", version=f"hawse {version('hawse')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    serve.add_parser(commands)
    arguments = parser.parse_args(argv)
    code: int = arguments.run(arguments)
    return code
