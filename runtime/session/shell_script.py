"""What a session's shell is told, line by line. Pure text; it knows neither files nor processes.

The shell is interactive, so that no mistake and no SIGINT ends it: it drops what it was doing and reads the next
line. It reads from a pipe of its own; a command is sourced from a file, since a quote that is never closed must not
swallow the lines that follow. docs/decisions/0031.

    \\printf 'S TOKEN' >status          it has begun; only now the end is sent: dash drops what it has read ahead
    \\. before                          the call's own directory and variables
    \\. command <in >out 2>err
    \\. after; \\printf 'E TOKEN' $?    reached however the command went, unless the shell is gone
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Final

from hawse.wire import HawseError

STOP_SIGNAL: Final = 60  # real-time, so nobody else's: makes bash drop the command that runs
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BASH: Final = ("--norc", "--noprofile", "--noediting", "-i", "+m", "+H")
OTHER: Final = ("-i", "+m")


def argv(shell: str) -> list[str]:
    """How a shell is started: interactive, without a user's files, job control, history or line editor."""
    return [shell, *(BASH if PurePath(shell).name == "bash" else OTHER)]


class ShellScript:
    """The lines for one kind of shell. What a user has named like a builtin must not be taken for it."""

    def __init__(self, shell: str, status: str) -> None:
        self._builtin = "\\builtin " if PurePath(shell).name == "bash" else "\\command "
        self._source = "\\builtin . " if PurePath(shell).name == "bash" else "\\. "
        self._status = shlex.quote(status)

    def first(self) -> str:
        """Once, before everything else. A command that runs ends by SIGINT, whatever a user has done to that."""
        history = 'if \\[ "${BASH_VERSION-}" ]; then \\set +o history; \\unset HISTFILE; \\history -c; fi'
        return f"{history}\n\\trap '\\trap - INT; \\kill -INT $$' {STOP_SIGNAL}\n"

    def tell(self, word: str, token: str, value: str = "") -> str:
        return f"{self._builtin}printf '%s\\n' \"{word} {token} {value}\" >{self._status}\n"

    def parser_state(self, path: str) -> str:
        """Make bash write a script to `path` that restores its aliases and parser options, and ends with `set -n`.

        Each builtin has its own redirection, so that what a DEBUG trap prints does not get into the file.
        """
        file = shlex.quote(path)
        options = "".join(
            f"; \\builtin shopt -q {name} && \\builtin printf '%s\\n' '\\builtin shopt -s {name}' >>{file}"
            for name in ("extglob", "expand_aliases")
        )
        posix = f"; [[ -o posix ]] && \\builtin printf '%s\\n' '\\set -o posix' >>{file}"
        return f"\\builtin alias -p >|{file}{options}{posix}; \\builtin printf '%s\\n' '\\set -n' >>{file}; "

    def begin(self, token: str, folder: str, *, last: int, around: bool, stdin: bool) -> str:
        """`last`: the code of the command before, which `$?` is; `around`: there are files `before` and `after`."""
        inside = {name: shlex.quote(f"{folder}/{name}") for name in ("before", "last", "command", "in", "out", "err")}
        before = f"{self._source}{inside['before']} 2>{inside['err']}\n" if around else ""
        carry = f"{self._source}{inside['last']}; " if last else ""
        source = inside["in"] if stdin else "/dev/null"
        run = f"{self._source}{inside['command']} <{source} >{inside['out']} 2>{inside['err']}\n"
        return self.tell("S", token) + before + carry + run

    def finish(self, token: str, folder: str, *, around: bool) -> str:
        if not around:
            return self.tell("E", token, "$?")
        after = f"__hawse_code=$?\n{self._source}{shlex.quote(f'{folder}/after')}\n"
        return after + self.tell("E", token, "${__hawse_code-0}") + "\\unset __hawse_code\n"

    def before(self, cwd: str | None, env: Mapping[str, str | None]) -> str:
        """Take on a call's own directory and variables, and note what was."""
        text = ""
        for number, (name, value) in enumerate(env.items()):
            was = f"__hawse_was{number}"
            text += (
                f'if \\[ "${{{name}+x}}" ]; then {was}=${name}\n'
                f"if sh -c '[ \"${{{name}+x}}\" ]'; then {was}x=1; fi; fi\n"
            )
            text += f"\\unset {name}\n" if value is None else f"\\export {name}={shlex.quote(value)}\n"
        if cwd is not None:
            text += f"__hawse_cwd=$PWD __hawse_old=${{OLDPWD-}}\n{self._builtin}cd {shlex.quote(cwd)}\n"
        return text

    def after(self, cwd: str | None, env: Mapping[str, str | None]) -> str:
        """Undo `before`."""
        text = ""
        if cwd is not None:
            text += (
                f'{self._builtin}cd "$__hawse_cwd" >/dev/null\nOLDPWD=$__hawse_old\n\\unset __hawse_cwd __hawse_old\n'
            )
        for number, name in enumerate(env):
            was = f"__hawse_was{number}"
            text += (
                f"\\unset {name}\n"
                f'if \\[ "${{{was}+x}}" ]; then {name}=${was}; if \\[ "${{{was}x+x}}" ]; then \\export {name}; fi; fi\n'
                f"\\unset {was} {was}x\n"
            )
        return text


def check(command: str, env: Mapping[str, str | None]) -> None:
    """Raises `invalid_params` for what no shell can be told."""
    if "\0" in command or any("\0" in (value or "") for value in env.values()):
        raise HawseError("invalid_params", "a NUL byte in a command or its environment")
    for name in env:
        if NAME.fullmatch(name) is None:
            raise HawseError("invalid_params", f"a shell has no variable named {name!r}")


def snapshot(shell: str, folder: str) -> str:
    """A command that writes what the session is into `folder`: `env`, `cwd` and `state`, which a shell can source."""
    where = {name: shlex.quote(f"{folder}/{name}") for name in ("env", "cwd", "state")}
    bash = (
        "{ \\builtin shopt -p; \\builtin set +o; \\builtin declare -f; \\builtin alias -p; }"
        if PurePath(shell).name == "bash"
        else "{ \\command alias | \\command sed 's/^/alias -- /'; }"
    )
    return (
        f"if \\[ -x /usr/bin/env ]; then /usr/bin/env -0; else /bin/env -0; fi >|{where['env']}\n"
        f"{bash} >|{where['state']}\n\\command pwd -P >|{where['cwd']}\n"
    )
