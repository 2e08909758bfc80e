"""What a session is at one moment, for a process that starts from it."""

import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from hawse.wire import HawseError

# The state is sourced before the command is parsed, so that its aliases are known by then.
BOOT: Final = r'\. "$1" 2>/dev/null; \command rm -f "$1" 2>/dev/null || \:; __hawse=$2; \set --; \eval "$__hawse"'


class StateExport(NamedTuple):
    """`env` is all that the session exports. `state` is a file that a shell of the same kind can source."""

    cwd: str
    env: dict[str, str]
    state: Path


def read(folder: Path) -> StateExport:
    """What the shell wrote. Raises `spawn_failed` if it did not."""
    try:
        variables = (folder / "env").read_bytes().split(b"\0")
        cwd = (folder / "cwd").read_bytes().removesuffix(b"\n")
    except OSError as error:
        raise HawseError("spawn_failed", f"the session did not tell its state: {error.strerror}") from None
    env = dict(os.fsdecode(item).split("=", 1) for item in variables if b"=" in item)
    if not env and not cwd:
        raise HawseError("spawn_failed", "the session did not tell its state")
    return StateExport(os.fsdecode(cwd) or "/", env, folder / "state")


def words(shell: str, snapshot: StateExport, argv: Sequence[str] | None, command: str | None) -> list[str]:
    """The argv of a process that runs `argv`, or `command` in a shell that has taken on the state."""
    if (argv is None) == (command is None):
        raise HawseError("invalid_params", "give either `argv` or `command`")
    if argv is not None:
        return list(argv)
    return [shell, "-c", BOOT, PurePath(shell).name, str(snapshot.state), command or ""]
