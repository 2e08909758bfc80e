"""The state directory: what a restarted gateway finds again. Mode 0700, since it holds the token.

token                       0600, made on first use
token.viewer                the same for those who may only look; delete it to take all its links back
sandboxes/ID/workspace/     what the sandbox works on
sandboxes/ID/run/           the runtime's socket and its lock; all that a sandbox sees of this directory
sandboxes/ID/runtime.log    what the runtime printed
sandboxes/ID/isolation      how the runtime that runs was started
"""

import os
import re
import secrets
from pathlib import Path
from typing import Final

SOCKET_PATH_MAX: Final = 107  # bytes, of sockaddr_un.sun_path less its final NUL
TOKEN_BYTES: Final = 32
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class StateError(Exception):
    """The directory can't be used; the message says what to do about it."""


class SandboxPaths:
    """Where the things of one sandbox are."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.workspace = home / "workspace"
        self.run = home / "run"
        self.socket = self.run / "runtime.sock"
        self.log = home / "runtime.log"
        self.isolation = home / "isolation"

    def make(self) -> None:
        """Raises `StateError`."""
        size = len(os.fsencode(self.socket))
        if size > SOCKET_PATH_MAX:
            raise StateError(
                f"{self.socket} is {size} bytes long, and a socket's path may have {SOCKET_PATH_MAX}: "
                "choose a shorter --state"
            )
        try:
            for directory in (self.home, self.workspace, self.run):
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StateError(f"{self.home}: {error.strerror}") from error


class StateDirectory:
    """Opening it makes the directory. Raises `StateError`."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.chmod(self.root, 0o700)
        except OSError as error:
            raise StateError(f"--state {self.root}: {error.strerror}") from error

    def token(self, name: str = "token") -> str:
        """The token of this state that has that name: the same one every time."""
        path = self.root / name
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            token = path.read_text("ascii").strip()
            if not token:
                raise StateError(f"{path} is empty: delete it") from None
            return token
        with open(fd, "w", encoding="ascii") as file:
            token = secrets.token_urlsafe(TOKEN_BYTES)
            file.write(f"{token}\n")
        return token

    def sandbox(self, sandbox: str) -> SandboxPaths:
        if not _ID.fullmatch(sandbox):
            raise ValueError(f"not a sandbox's id: {sandbox!r}")
        return SandboxPaths(self.root / "sandboxes" / sandbox)
