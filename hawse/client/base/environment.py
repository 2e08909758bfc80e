"""Encodes the working directory and environment for a program, shell or kernel."""

import os
from collections.abc import Mapping

from hawse.api.paths import to_text

Directory = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Env = Mapping[str, str | None]  # None unsets a variable


def directory(cwd: Directory | None) -> str | None:
    """Encode a working directory."""
    return None if cwd is None else to_text(os.fsdecode(cwd))


def environment(env: Env | None) -> dict[str, str | None] | None:
    """Encode environment variables."""
    return None if env is None else dict(env)
