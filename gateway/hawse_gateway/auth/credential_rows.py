"""What is stored of a credential, and what finds those that are not stored."""

from typing import Final, Literal, Protocol

import msgspec

from hawse.wire import Principal
from hawse_gateway.auth.identity import Identity
from hawse_gateway.store.clock import Moment

Kind = Literal["token", "link", "session", "login"]
EXTERNAL: Final = "jwt-"  # begins the ids of tokens that another program has issued


class Credential(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row.

    Attributes:
        id: Its id, which is not secret.
        kind: What it is.
        digest: The SHA-256 of its secret, in hexadecimal.
        principal: Who presents it, with the rights at the gateway.
        created: In seconds since 1970.
        expires: When it ends. None: it does not.
        parent: The credential with which it was created, and with which it ends. None: that of the owner.
        uses: How many sessions were begun with it, of a link.
        max_uses: How many may be. None: any number.

    A `login` has no secret. It is the parent of the sessions of a user that signed in with an identity provider.
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
    """Tokens that are not stored, since another program issues them."""

    def find(self, secret: str) -> Identity | None:
        """Return who presents `secret`; None if it is not valid. May raise `HawseError` (`unavailable`)."""

    def identity(self, id: str) -> Identity | None:
        """Return the identity of a token that was presented before; None if it has ended."""
