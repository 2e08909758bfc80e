"""Rows for stored credentials, and the interface for tokens from other issuers."""

from typing import Final, Literal, Protocol

import msgspec

from hawse.wire import Principal
from hawse_gateway.auth.identity import Identity
from hawse_gateway.store.clock import Moment

Kind = Literal["token", "link", "session", "login"]
EXTERNAL: Final = "jwt-"  # id prefix for tokens from another issuer


class Credential(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stored credential.

    Attributes:
        id: Its id, which is not secret.
        kind: The kind: `token`, `link`, `session` or `login`.
        digest: The SHA-256 hash of its secret, in hexadecimal.
        principal: The principal it authenticates, including the principal's rights at the gateway.
        created: When it was created, in seconds since 1970.
        expires: When it expires. None means never.
        parent: The credential used to create this one, which never outlives its parent. None means the owner's token.
        uses: The number of sessions started with a link. Only set for links.
        max_uses: The maximum of `uses`. None means unlimited.

    A `login` has no secret. After a user has signed in with an identity provider, the `login` is the parent of the
    user's sessions.
    """

    id: str
    kind: Kind
    digest: str
    principal: Principal
    created: float
    expires: Moment | None = None
    parent: str | None = None
    uses: int = 0
    max_uses: int | None = None


class ExternalTokens(Protocol):
    """Checks tokens from another issuer. These tokens are not stored."""

    def find(self, secret: str) -> Identity | None:
        """Return the caller identified by a token, or None if the token is invalid. Raises `HawseError`."""

    def identity(self, id: str) -> Identity | None:
        """Return the identity for a previously accepted token, given its id. None if the token has expired."""
