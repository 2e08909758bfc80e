"""A session's exported state, for starting processes in that state."""

import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from hawse.wire import HawseError
from hawse_runtime.process.launcher import program_argv

# The state is sourced before the command is parsed, so that its aliases apply.
BOOT: Final = r'\. "$1" 2>/dev/null; \command rm -f "$1" 2>/dev/null || \:; __hawse=$2; \set --; \eval "$__hawse"'


class StateExport(NamedTuple):
    """`env` contains the session's exported variables. `state` is a file to be sourced by a shell of the same kind."""

    cwd: str
    env: dict[str, str]
    state: Path


def read(folder: Path) -> StateExport:
    """Read the files written to `folder` by the shell. Raises `spawn_failed` if any are missing or empty."""
    try:
        variables = (folder / "env").read_bytes().split(b"\0")
        cwd = (folder / "cwd").read_bytes().removesuffix(b"\n")
    except OSError as error:
        raise HawseError("spawn_failed", f"the session did not export its state: {error.strerror}") from None
    env = dict(os.fsdecode(item).split("=", 1) for item in variables if b"=" in item)
    if not env and not cwd:
        raise HawseError("spawn_failed", "the session exported an empty state")
    return StateExport(os.fsdecode(cwd) or "/", env, folder / "state")


def process_argv(shell: str, state: StateExport, argv: Sequence[str] | None, command: str | None) -> list[str]:
    """Return the argv for a process that starts with a session's state.

    Args:
        shell: The path of the session's shell, which runs `command`.
        state: The exported state.
        argv: The program and its arguments.
        command: A command line for the shell, which sources the state first.

    Raises:
        HawseError: `invalid_params` unless exactly one of `argv` and `command` is set.
    """
    return program_argv(argv, command, lambda text: [shell, "-c", BOOT, PurePath(shell).name, str(state.state), text])
