"""Shell integration: gets bash and zsh to report their commands without changing the user's files.

The scripts are part of this package, which is read-only inside a sandbox (docs/decisions/0010).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple

SCRIPTS = Path(__file__).resolve().parent / "shell"
COMMANDS = SCRIPTS / "bin"  # the directory of `hawse-ask`


class ShellLaunch(NamedTuple):
    """The program to start. `integrated` is true if the program is a shell that will report its commands."""

    argv: list[str]
    env: dict[str, str]
    integrated: bool


def add_commands(env: Mapping[str, str]) -> dict[str, str]:
    """Return `env` with the directory of hawse's commands at the end of PATH. Leaves a missing PATH unchanged."""
    return {**env, "PATH": f"{env['PATH']}:{COMMANDS}"} if env.get("PATH") else dict(env)


def integrate(argv: Sequence[str], env: Mapping[str, str]) -> ShellLaunch:
    """Add shell integration to an interactive bash or zsh (one without arguments). Leaves other commands unchanged."""
    shell = PurePath(argv[0]).name if len(argv) == 1 else ""
    if shell == "bash":
        return ShellLaunch([argv[0], "--rcfile", str(SCRIPTS / "hawse.bash")], dict(env), True)
    if shell == "zsh":
        own = {"HAWSE_ZDOTDIR": env["ZDOTDIR"]} if "ZDOTDIR" in env else {}
        return ShellLaunch(list(argv), {**env, **own, "ZDOTDIR": str(SCRIPTS / "zsh")}, True)
    return ShellLaunch(list(argv), dict(env), False)
