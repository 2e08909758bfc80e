"""The state directory, which contains all data needed by a restarted gateway. The directory has mode 0700, because it
contains the owner's token.

token                       the owner's token; mode 0600, created on first use
sandboxes/ID/workspace/     the sandbox's files
sandboxes/ID/workspace.img  the file system mounted there, if the workspace is limited in size
sandboxes/ID/run/           the runtime's own files: recordings, output, a copy of `token`
sandboxes/ID/runtime.sock   the runtime's socket
sandboxes/ID/token          the secret shared by the gateway and the running runtime
sandboxes/ID/cgroups        the sandbox's cgroups
sandboxes/ID/uid            the sandbox's user on the host, if the gateway runs as root
sandboxes/ID/runtime.log    the runtime's output
sandboxes/ID/isolation      the running runtime's isolation
sandboxes/ID/egress/        the proxy for a filtered network: its CA, policy and process
sandboxes/ID/process        the running runtime's pid, start time and boot id
sandboxes/ID/runtime        the runtime id of the last start not confirmed to have ended
docker-gateway              the id used in the labels of the Docker provider's containers and volumes
mounts/ID/                  a mount's files (`hawse_gateway.mounts.processes`); its lock is in mount-locks/
images/ID                   a backup's overlay image (`hawse_gateway.backups.images`)
bundles/HASH/               the runtime, as mounted into containers by the Docker provider
audit/                      the audit log (gateway/hawse_gateway/audit/files.py)
store.db                    the sandboxes' rows (gateway/hawse_gateway/store/sqlite.py)
"""

import os
import re
import secrets
from pathlib import Path
from typing import Final

TOKEN_BYTES: Final = 32
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class StateError(Exception):
    """The state directory is unusable. The message states what to change."""


class SandboxPaths:
    """A sandbox's paths."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.workspace = home / "workspace"
        self.disk = home / "workspace.img"
        self.run = home / "run"
        self.socket = home / "runtime.sock"
        self.token = home / "token"
        self.uid = home / "uid"
        self.cgroups = home / "cgroups"
        self.log = home / "runtime.log"
        self.isolation = home / "isolation"
        self.process = home / "process"
        self.runtime = home / "runtime"
        self.egress = home / "egress"

    def make(self) -> None:
        """Create the directories. Raises `StateError`."""
        try:
            for directory in (self.home, self.workspace, self.run):
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StateError(f"{self.home}: {error.strerror}") from error


class StateDirectory:
    """The state directory. The constructor creates it. Raises `StateError`."""

    def __init__(self, root: Path) -> None:
        self.root = root.expanduser().absolute()
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.chmod(self.root, 0o700)
        except OSError as error:
            raise StateError(f"--state {self.root}: {error.strerror}") from error

    def token(self, name: str = "token") -> str:
        """Return the token in the file `name`. The first call creates a random token."""
        path = self.root / name
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            token = path.read_text("ascii").strip()
            if not token:
                raise StateError(f"the token file {path} is empty: delete it") from None
            return token
        with open(fd, "w", encoding="ascii") as file:
            token = secrets.token_urlsafe(TOKEN_BYTES)
            file.write(f"{token}\n")
        return token

    def identity(self, name: str) -> str:
        """Return the id in the file `name`: 8 hexadecimal digits that are not secret. The first call creates it."""
        path = self.root / name
        if not path.exists():
            new = path.with_name(f".{name}-{secrets.token_hex(4)}")
            new.write_text(f"{secrets.token_hex(4)}\n")
            try:
                os.link(new, path)
            except FileExistsError:
                pass  # another gateway has created the file
            finally:
                new.unlink()
        return path.read_text("ascii").strip()

    def sandbox(self, sandbox: str) -> SandboxPaths:
        """Return a sandbox's paths. Raises `ValueError` if the id is invalid."""
        if not _ID.fullmatch(sandbox):
            raise ValueError(f"invalid sandbox id {sandbox[:80]!r}: use 1 to 64 letters, digits, `_`, `.`, `-`")
        return SandboxPaths(self.root / "sandboxes" / sandbox)

    def sandboxes(self) -> list[str]:
        """Return the ids of all sandboxes that have a directory, sorted."""
        try:
            return sorted(name for name in os.listdir(self.root / "sandboxes") if _ID.fullmatch(name))
        except FileNotFoundError:
            return []
