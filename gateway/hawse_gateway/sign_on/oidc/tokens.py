"""Verifies a provider's JSON Web Tokens (RFC 7519, RFC 8725; OpenID Connect Core 1.0, section 3.1.3.7). No I/O."""

import hmac
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jws import JWSRegistry

from hawse_gateway.sign_on.oidc.provider import OidcProvider

TOKEN_SIZE: Final = 16 << 10  # maximum length of a token, which is half the size limit for request headers
LEEWAY: Final = 60  # allowed difference between the provider's and the gateway's clocks, in seconds
# Only asymmetric algorithms are accepted: never `none`, and never HMAC, which could be abused by using a public key as
# the secret.
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519")

Claims = Mapping[str, Any]


class InvalidTokenError(Exception):
    """A token is invalid. The message contains the reason, for the log, but no part of the token."""


class UnknownKeyError(InvalidTokenError):
    """A token is signed with a key that the gateway does not have, or has not fetched yet."""


class Verifier:
    """Verifies tokens with a provider's keys."""

    def __init__(self, provider: OidcProvider, *, clock: Callable[[], float] = time.time) -> None:
        """Create a verifier.

        Args:
            provider: The provider's issuer and keys.
            clock: Returns seconds since 1970.
        """
        self._provider = provider
        self._clock = clock
        self._registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)

    def verify(self, token: str, audience: str) -> Claims:
        """Return the claims of a token for `audience`. Raises `InvalidTokenError`."""
        if len(token) > TOKEN_SIZE:
            raise InvalidTokenError(f"the token has more than {TOKEN_SIZE} characters")
        try:
            found = jwt.decode(token, self._key, registry=self._registry)
            registry = jwt.JWTClaimsRegistry(
                now=lambda: int(self._clock()),
                leeway=LEEWAY,
                iss={"essential": True, "value": self._provider.issuer},
                aud={"essential": True, "value": audience},
                sub={"essential": True},
                exp={"essential": True},
            )
            registry.validate(found.claims)
        except JoseError as error:
            raise InvalidTokenError(str(error)) from error
        except (ValueError, TypeError, RecursionError) as error:
            raise InvalidTokenError("the token is not a signed JWT") from error
        return found.claims

    def verify_login(self, token: str, client_id: str, nonce: str) -> Claims:
        """Return the claims in a login's ID token.

        Args:
            token: The ID token.
            client_id: The gateway's client id.
            nonce: The nonce sent at the start of the login.

        Raises:
            InvalidTokenError: The token is invalid or belongs to another login.
        """
        claims = self.verify(token, client_id)
        given = claims.get("nonce")
        if not isinstance(given, str) or not hmac.compare_digest(given.encode(), nonce.encode()):
            raise InvalidTokenError("the token belongs to another login: the nonce differs")
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        authorized = claims.get("azp")
        if authorized not in (None, client_id) or (len(audiences) > 1 and authorized is None):
            raise InvalidTokenError("the token was issued to another client")
        return claims

    def _key(self, message: Any) -> Any:
        """Return the key that a token names. If the token names no key, the provider must have exactly one."""
        keys, id = self._provider.keys, message.headers().get("kid")
        if id is None and len(keys) == 1:
            return next(iter(keys.values()))
        if not isinstance(id, str) or id not in keys:
            raise UnknownKeyError("the token's key is unknown")
        key = keys[id]
        named = key.get("alg")
        if named is not None and named != message.headers().get("alg"):
            raise InvalidTokenError("the key is for another algorithm")
        return key
