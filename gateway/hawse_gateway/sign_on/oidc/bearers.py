"""Accepts the provider's JSON Web Tokens in `Authorization: Bearer`. Verified tokens are cached until they expire."""

import hashlib
import logging
from collections import OrderedDict
from typing import Final

import msgspec

from hawse.wire import HawseError
from hawse_gateway.auth.credential_rows import EXTERNAL
from hawse_gateway.auth.identity import Identity
from hawse_gateway.sign_on.oidc.provider import RETRY, OidcProvider
from hawse_gateway.sign_on.oidc.tokens import LEEWAY, InvalidTokenError, UnknownKeyError, Verifier
from hawse_gateway.sign_on.oidc.users import Users
from hawse_gateway.store.clock import Clock

log = logging.getLogger(__name__)

REMEMBERED: Final = 4096  # cached tokens


class BearerTokens:
    """Authenticates callers with the provider's tokens (`ExternalTokens`)."""

    def __init__(
        self, provider: OidcProvider, verifier: Verifier, users: Users, audience: str, *, clock: Clock | None = None
    ) -> None:
        """Create an instance with an empty cache.

        Args:
            provider: The provider that issues the tokens.
            verifier: Verifies the tokens.
            users: Maps claims to users.
            audience: The audience that tokens must have.
            clock: The clock that determines when tokens expire. Defaults to this machine's clock.
        """
        self._provider = provider
        self._verifier = verifier
        self._users = users
        self._audience = audience
        self._clock = clock or Clock()
        self._known: OrderedDict[str, Identity] = OrderedDict()  # cached tokens, keyed by id, least recently used first
        provider.on_keys = self._known.clear  # clears the cache, because the keys may have been revoked

    def find(self, secret: str) -> Identity | None:
        """Return the identity of the caller presenting a token, or None if the token is invalid.

        Raises:
            HawseError: `forbidden` if the user has no role on this gateway; `unavailable` while a new key is being
                fetched.
        """
        id = EXTERNAL + hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
        if (found := self.identity(id)) is not None:
            return found
        try:
            claims = self._verifier.verify(secret, self._audience)
        except UnknownKeyError as error:
            if self._provider.key_is_unknown():
                text = "the identity provider's keys are being fetched: try again"
                raise HawseError("unavailable", text, details={"retry_after": RETRY}) from error
            return None
        except InvalidTokenError as error:
            log.info("< refused a JSON Web Token: %s", error)
            return None
        principal = msgspec.structs.replace(self._users.principal(claims), credential=id)
        now = self._clock.now()
        identity = Identity(principal, id, now.after(max(0.0, claims["exp"] + LEEWAY - now.wall)))
        self._known[id] = identity
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return identity

    def identity(self, id: str) -> Identity | None:
        found = self._known.get(id)
        if found is None or found.expires is None or self._clock.until(found.expires) <= 0:
            self._known.pop(id, None)
            return None
        self._known.move_to_end(id)
        return found
