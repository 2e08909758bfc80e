"""Environment variables and working directory for new programs."""

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from hawse.api.paths import from_text
from hawse.wire import HawseError
from hawse_runtime.posix.process_table import DESKTOP_MARK, PROCESS_MARK, RUNTIME_MARK

# Variables that are not passed on, because user code must not see them.
PRIVATE = ("HAWSE_RUNTIME_TOKEN", "HAWSE_TOKEN", "HAWSE_STATE")
_NOT_INHERITED = (
    *PRIVATE,
    PROCESS_MARK,
    DESKTOP_MARK,
    *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "OLDPWD", "COLUMNS", "LINES", "TMUX", "STY"),
)
_NOT_CONFIGURED = (RUNTIME_MARK, PROCESS_MARK, DESKTOP_MARK)  # variables that a configuration must not set


class Environment:
    """The sandbox's environment variables and workspace, which are the defaults for its programs."""

    def __init__(self, workspace: Path, *, mark: str | None = None) -> None:
        """Copy the runtime's variables. `mark` is the runtime's id, which identifies programs even after their parents
        have exited.
        """
        self.workspace = workspace
        self.mark = f"{RUNTIME_MARK}={mark}" if mark is not None else ""
        self._base = {k: v for k, v in os.environ.items() if k not in _NOT_INHERITED}
        self._base.setdefault("HOME", str(workspace))
        self._base.setdefault("LANG", "C.UTF-8")
        self._base.setdefault("PATH", os.defpath)
        self._base.setdefault("USER", _user())
        if mark is not None:
            self._base[RUNTIME_MARK] = mark
        self.configured: Mapping[str, str] = {}  # the sandbox's configured variables, for programs started later

    def build(self, extra: Mapping[str, str | None] | None, *, cwd: str, terminal: bool = False) -> dict[str, str]:
        """Return the sandbox's variables, updated with `extra`. A value of None removes a variable."""
        env = dict(self._base, PWD=cwd)
        if terminal:
            env |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "hawse"}
        env |= {name: value for name, value in self.configured.items() if name not in _NOT_CONFIGURED}
        for name, value in (extra or {}).items():
            if "=" in name or not name:
                text = f"invalid environment variable name {name!r}: it must not be empty or contain `=`"
                raise HawseError("invalid_params", text)
            if "\0" in name or "\0" in (value or ""):
                raise HawseError("invalid_params", "env must not contain NUL bytes")
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        return env

    def path(self, path: str, base: str | None = None, *, field: str = "$.path") -> str:
        """Return a call's path in absolute form. Relative paths start at `base`, by default the workspace."""
        try:
            path, base = from_text(path), from_text(base or "")
        except ValueError as error:
            raise HawseError("invalid_params", str(error), details={"path": field}) from None
        return os.path.normpath(self.workspace / base / path)

    def cwd(self, cwd: str | None) -> str:
        return self.path(cwd, field="$.cwd") if cwd is not None else str(self.workspace)


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
