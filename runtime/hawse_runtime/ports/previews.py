"""Stores a sandbox's previews: exposed ports and their tokens. They survive a runtime restart.

Tokens are compared by hash, so that lookup times reveal nothing about them. The file is written before a preview is
confirmed.
"""

import base64
import hashlib
import logging
import secrets
from collections.abc import Iterable

import msgspec

from hawse.api.ports import ExposedPort, preview_digest
from hawse.api.sandboxes import SandboxPort
from hawse.wire import HawseError
from hawse_runtime.core.folder import Folder

log = logging.getLogger(__name__)

FILE = "previews.json"
SECRET = 16  # bytes in a random token
# Maximum number of previews per sandbox.
LIMIT = 256


class _File(msgspec.Struct):
    """The file's contents.

    Attributes:
        exposed: The previews.
        revoked: Configured ports whose previews were revoked and must not be recreated.
    """

    exposed: list[ExposedPort] = []
    revoked: list[int] = []


class PreviewTable:
    """The previews, indexed by port and by token.

    Args:
        folder: The file's directory. None keeps the previews in memory only.
    """

    def __init__(self, folder: Folder | None) -> None:
        self._folder = folder
        self._exposed: dict[int, ExposedPort] = {}
        self._tokens: dict[bytes, ExposedPort] = {}
        self._revoked: set[int] = set()
        for exposed in self._load():
            self._add(exposed)

    def __len__(self) -> int:
        return len(self._exposed)

    def __contains__(self, port: int) -> bool:
        return port in self._exposed

    @property
    def all(self) -> list[ExposedPort]:
        return list(self._exposed.values())

    @property
    def digests(self) -> list[str]:
        """The digests of the tokens, which the gateway uses while this runtime isn't running."""
        return [preview_digest(exposed.token) for exposed in self._exposed.values()]

    def by_token(self, token: str) -> ExposedPort:
        """Return the preview with this token. Raises `HawseError` (`not_found`)."""
        exposed = self._tokens.get(_hash(token))
        if exposed is None:
            raise HawseError("not_found", "no such preview")
        return exposed

    def expose(self, port: int, *, name: str | None = None, token: str | None = None) -> ExposedPort:
        """Create a preview for a port, or return the existing one.

        Args:
            port: The port to expose.
            name: The name for a new preview.
            token: The token for a new preview; None means a random one.

        Raises:
            HawseError: `limit_exceeded`, or `conflict` if the port has a different token or a different port has the
                token.
            OSError: The file can't be written. In that case, the preview is not created.
        """
        known = self._exposed.get(port)
        if known is not None and token in (None, known.token):
            return known
        if known is not None:
            raise HawseError("conflict", f"port {port} has a preview with another token; remove that preview first")
        if token is not None and _hash(token) in self._tokens:
            raise HawseError("conflict", "another port has a preview with this token")
        if len(self._exposed) >= LIMIT:
            raise HawseError("limit_exceeded", f"preview limit reached: {LIMIT} ports are exposed")
        exposed = ExposedPort(port=port, token=token or new_token(), name=name)
        self._add(exposed)
        was_revoked = port in self._revoked
        self._revoked.discard(port)
        try:
            self._save()
        except OSError:
            self._remove(exposed)
            if was_revoked:
                self._revoked.add(port)
            raise
        return exposed

    def revoke(self, port: int) -> ExposedPort | None:
        """Remove and return a port's preview, if any. The preview is removed even if `OSError` is raised."""
        exposed = self._exposed.get(port)
        if exposed is not None:
            self._remove(exposed)
            self._revoked.add(port)
            self._save()
        return exposed

    def configure(self, ports: Iterable[SandboxPort]) -> None:
        """Create the sandbox's configured previews, except for any that exist or were revoked."""
        for wanted in ports:
            if wanted.port in self._exposed or wanted.port in self._revoked:
                continue
            try:
                self.expose(wanted.port, name=wanted.name, token=wanted.token)
            except (HawseError, OSError) as error:
                log.warning("! cannot create the preview of port %d: %s", wanted.port, error)

    def _add(self, exposed: ExposedPort) -> None:
        self._exposed[exposed.port] = exposed
        self._tokens[_hash(exposed.token)] = exposed

    def _remove(self, exposed: ExposedPort) -> None:
        del self._exposed[exposed.port]
        del self._tokens[_hash(exposed.token)]

    def _load(self) -> list[ExposedPort]:
        if self._folder is None:
            return []
        try:
            kept = msgspec.json.decode(self._folder.read(FILE), type=_File)
        except FileNotFoundError:
            return []
        except (OSError, msgspec.MsgspecError) as error:
            log.error("! cannot read %s/%s, so all previews are lost: %s", self._folder, FILE, error)
            return []
        self._revoked = set(kept.revoked)
        return kept.exposed

    def _save(self) -> None:
        if self._folder is not None:
            self._folder.make()
            self._folder.write(FILE, msgspec.json.encode(_File(self.all, sorted(self._revoked))))


def new_token() -> str:
    """Return a random token of 26 lowercase letters and digits."""
    return base64.b32encode(secrets.token_bytes(SECRET)).decode().rstrip("=").lower()


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
