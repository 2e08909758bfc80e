"""Encodes the working directory and environment for a program, shell or kernel."""

import os
from collections.abc import Mapping
from typing import Final

from hawse.api.paths import to_text

Directory = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Env = Mapping[str, str | None]  # None unsets a variable

# Variables that keep common programs from asking questions and opening pagers.
UNATTENDED: Final[Env] = {
    "CI": "1",
    "COMPOSER_NO_INTERACTION": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "NPM_CONFIG_YES": "true",
    "PAGER": "cat",
    "PIP_NO_INPUT": "1",
}


def directory(cwd: Directory | None) -> str | None:
    """Encode a working directory."""
    return None if cwd is None else to_text(os.fsdecode(cwd))


def environment(env: Env | None, *, unattended: bool = False) -> dict[str, str | None] | None:
    """Encode environment variables, added to `UNATTENDED` if `unattended` is true."""
    if unattended:
        return {**UNATTENDED, **(env or {})}
    return None if env is None else dict(env)
