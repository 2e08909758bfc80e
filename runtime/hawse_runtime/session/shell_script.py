"""Builds input lines for a session's shell. This module only handles text, not files or processes.

The shell is interactive, so that errors and SIGINT don't end it: it drops the current line and reads the next. It reads
its lines from a separate pipe. Each command is sourced from a file, so that an unclosed quote can't swallow the lines
that follow (docs/decisions/0031).

    \\. show; \\printf 'S TOKEN' >status  started; only now the second line is sent: dash drops input it has read ahead
    \\. before; \\. command <in >out 2>err; code=$?; \\. hide

    code=${code-$?}; \\. hide; \\. after
    \\printf 'E TOKEN' $code >status    reached after any command that does not end the shell

An interactive shell expands PS1 and runs PROMPT_COMMAND before each line. The prompt and the commands' output are never
seen, and both can be slow. `hide` therefore empties both variables, and `show` restores them for the command. If an
error or an interrupt in a command ends the first line, one prompt is expanded.

The trap for STOP_SIGNAL has an effect only between `show` and `hide`. If a trap interrupts bash 5.2 while it is waiting
for the next line, bash crashes: a failed read(2) leaves -1 as the size of its buffer (getc_with_restart). See
docs/decisions/0104.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Final

from hawse.wire import HawseError

STOP_SIGNAL: Final = 60  # a real-time signal that programs don't use; its trap makes bash drop the current command
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BASH: Final = ("--norc", "--noprofile", "--noediting", "-i", "+m", "+H")
OTHER: Final = ("-i", "+m")


def argv(shell: str) -> list[str]:
    """Return the argv for an interactive shell without startup files, job control, history or a line editor."""
    return [shell, *(BASH if PurePath(shell).name == "bash" else OTHER)]


class ShellScript:
    """Builds input lines for a shell. The user's functions and aliases can't change the meaning of these lines."""

    def __init__(self, shell: str, folder: str) -> None:
        """Create a builder. `folder` is the directory for the `status` pipe and the scripts `show` and `hide`."""
        self._bash = PurePath(shell).name == "bash"
        self._builtin = "\\builtin " if self._bash else "\\command "
        self._source = "\\builtin . " if self._bash else "\\. "
        self._status, self._show, self._hide = (shlex.quote(f"{folder}/{name}") for name in ("status", "show", "hide"))

    def first(self) -> str:
        """Return the first lines. They disable the history and set a trap that ends even commands that trap SIGINT."""
        history = 'if \\[ "${BASH_VERSION-}" ]; then \\set +o history; \\unset HISTFILE; \\history -c; fi'
        stop = "case ${__hawse_runs-} in 1) \\unset __hawse_runs; \\trap - INT; \\kill -INT $$;; esac"
        return f"{history}\n\\trap '{stop}' {STOP_SIGNAL}\n"

    def report(self, kind: str, token: str, value: str = "") -> str:
        """Return a line that makes the shell write a message to the status pipe."""
        return f"{self._builtin}printf '%s\\n' \"{kind} {token} {value}\" >{self._status}\n"

    def parser_state(self, path: str) -> str:
        """Return bash code that writes a script to `path`. The script restores aliases and parser options, and sets
        `-n`.

        Each builtin is redirected separately, so that a DEBUG trap's output doesn't end up in the file.
        """
        file = shlex.quote(path)
        options = "".join(
            f"; \\builtin shopt -q {name} && \\builtin printf '%s\\n' '\\builtin shopt -s {name}' >>{file}"
            for name in ("extglob", "expand_aliases")
        )
        posix = f"; [[ -o posix ]] && \\builtin printf '%s\\n' '\\set -o posix' >>{file}"
        return f"\\builtin alias -p >|{file}{options}{posix}; \\builtin printf '%s\\n' '\\set -n' >>{file}; "

    def begin(self, token: str, folder: str, *, last: int, around: bool, stdin: bool) -> str:
        """Return the line that reports the start of a command and then runs it.

        Args:
            token: The token for the command's messages.
            folder: The directory for the command's files and pipes.
            last: The previous command's exit code, which becomes `$?`.
            around: Whether the files `before` and `after` exist.
            stdin: Whether the pipe `in` exists. If not, stdin is /dev/null.
        """
        inside = {name: shlex.quote(f"{folder}/{name}") for name in ("before", "last", "command", "in", "out", "err")}
        before = f"{self._source}{inside['before']} 2>{inside['err']}; " if around else ""
        carry = f"{self._source}{inside['last']}; " if last else ""
        source = inside["in"] if stdin else "/dev/null"
        run = f"{self._source}{inside['command']} <{source} >{inside['out']} 2>{inside['err']}"
        started = self.report("S", token).removesuffix("\n")
        hide = f"__hawse_code=$?; {self._source}{self._hide}"
        return f"{self._source}{self._show}; {started}; {before}{carry}{run}; {hide}\n"

    def finish(self, token: str, folder: str, *, around: bool) -> str:
        """Return the line that reports the exit code. It must be sent after the command has started."""
        hide = f"__hawse_code=${{__hawse_code-$?}}; {self._source}{self._hide}; "
        after = f"{self._source}{shlex.quote(f'{folder}/after')}; " if around else ""
        return hide + after + self.report("E", token, "$__hawse_code")

    def show(self) -> str:
        """Return a script that restores the prompts before a command, and enables STOP_SIGNAL."""
        unset = f"{self._builtin}unset"
        text = f"{unset} __hawse_code\n__hawse_runs=1\n"
        text += f'if \\[ "${{__hawse_ps1+x}}" ]; then PS1=$__hawse_ps1; {unset} __hawse_ps1; fi\n'
        if self._bash:
            text += (
                'if \\[ "${__hawse_prompt+x}" ]; then\n'
                'if [[ ${PROMPT_COMMAND@a} == *a* ]]; then PROMPT_COMMAND=("${__hawse_prompt[@]}")\n'
                f"else PROMPT_COMMAND=$__hawse_prompt; fi\n{unset} __hawse_prompt\nfi\n"
            )
        return text

    def hide(self) -> str:
        """Return a script that empties the prompts, unless they are already empty, and disables STOP_SIGNAL."""
        text = f"{self._builtin}unset __hawse_runs\n"
        text += 'if \\[ "${PS1+x}" ]; then if \\[ "${__hawse_ps1+x}" ]; then \\:; else __hawse_ps1=$PS1; PS1=; fi; fi\n'
        if self._bash:
            text += (
                'if \\[ "${PROMPT_COMMAND+x}" ]; then if \\[ "${__hawse_prompt+x}" ]; then \\:; else\n'
                '__hawse_prompt=("${PROMPT_COMMAND[@]}")\n'
                "if [[ ${PROMPT_COMMAND@a} == *a* ]]; then PROMPT_COMMAND=(''); else PROMPT_COMMAND=; fi\nfi; fi\n"
            )
        return text

    def before(self, cwd: str | None, env: Mapping[str, str | None]) -> str:
        """Return a script that saves the current directory and variables, then sets the values requested by a call."""
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
        """Return a script that undoes `before`."""
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
    """Raise `invalid_params` if the command or the environment can't be represented in a shell."""
    if "\0" in command or any("\0" in (value or "") for value in env.values()):
        raise HawseError("invalid_params", "the command or its environment contains a NUL byte")
    for name in env:
        if NAME.fullmatch(name) is None:
            raise HawseError("invalid_params", f"{name!r} is not a valid shell variable name")


def snapshot(shell: str, folder: str) -> str:
    """Return a command that exports the session's state to files in `folder`: `env`, `cwd`, and the script `state`."""
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
