"""The rows of stored credentials, and the lookup of external ones."""

from typing import Final, Literal, Protocol

import msgspec

from hawse.wire import Principal
from hawse_gateway.auth.identity import Identity
from hawse_gateway.store.clock import Moment

Kind = Literal["token", "link", "session", "login"]
EXTERNAL: Final = "jwt-"  # prefix of the ids of tokens issued by another program


class Credential(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One stored credential.

    Attributes:
        id: Its id, which is not secret.
        kind: The kind: `token`, `link`, `session` or `login`.
        digest: The SHA-256 of its secret, in hexadecimal.
        principal: The principal it authenticates, with its rights at the gateway.
        created: Seconds since 1970.
        expires: When it expires. None: never.
        parent: The credential it was created with and ends with. None: the owner's token.
        uses: For a link, the number of sessions started with it.
        max_uses: The limit of `uses`. None: unlimited.

    A `login` has no secret. It is the parent of a user's sessions after a sign-in with an identity provider.
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
    """Tokens that another program issues, and that are therefore not stored."""

    def find(self, secret: str) -> Identity | None:
        """Return who presents `secret`, or None if it is invalid. May raise `HawseError` (`unavailable`)."""

    def identity(self, id: str) -> Identity | None:
        """Return the identity of a token presented earlier, or None if it has ended."""
