"""Requests to an OpenID provider for its metadata, its keys, and the tokens for a login.

Responses are limited in size and time, and redirects are not followed.
"""

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx
from joserfc import jwk
from joserfc.errors import JoseError

from hawse.wire import HawseError
from hawse_gateway.core.cancellation import cancellation_kept

log = logging.getLogger(__name__)

ANSWER_SIZE: Final = 256 << 10  # maximum size of a response, in bytes
TIMEOUT: Final = 10.0  # timeout for a request, in seconds
KEYS: Final = 64  # maximum number of provider keys; limits the cost of verifying an unknown token
REFRESH: Final = 300.0  # seconds between regular fetches of the keys
RETRY: Final = 5.0  # minimum seconds between fetches that follow a failure or look for an unknown key
KEY_TYPES: Final = ("RSA", "EC", "OKP")  # symmetric keys are refused, because they would be public
RSA_BITS: Final = 2048  # RFC 7518, section 3.3

Key = Any  # joserfc's


class ProviderFailedError(Exception):
    """The provider did not send a usable response."""


class Metadata(NamedTuple):
    """The parts of the provider's metadata that the gateway uses (OpenID Connect Discovery 1.0, section 3).

    Attributes:
        authorization: The URL that browsers are redirected to.
        token: The URL that exchanges a code for tokens.
        keys: The URL of the key set.
        basic: Whether to send the client secret in `Authorization` instead of the form.
        names_itself: Whether the provider adds its identifier as `iss` to the redirect after a login (RFC 9207).
    """

    authorization: str
    token: str
    keys: str
    basic: bool
    names_itself: bool


class OidcProvider:
    """An OpenID provider. `run` keeps `metadata` and `keys` up to date.

    Attributes:
        issuer: The provider's identifier.
        metadata: The provider's metadata. None until the first successful request.
        keys: The provider's public keys, keyed by id.
        on_keys: A function called whenever the keys have changed.
    """

    def __init__(
        self, issuer: str, *, tls: ssl.SSLContext | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Create the provider without contacting it.

        Args:
            issuer: The provider's identifier: an `https` URL, or an `http` URL on this machine.
            tls: The TLS context used to verify the provider's certificate. Defaults to the system's certificate
                authorities.
            clock: A monotonic clock, in seconds.
        """
        self.issuer = issuer
        self.metadata: Metadata | None = None
        self.keys: Mapping[str, Key] = {}
        self.on_keys: Callable[[], None] = lambda: None
        self._tls = tls
        self._clock = clock
        self._wake = asyncio.Event()
        self._reading = asyncio.Lock()  # prevents an older response from replacing a newer one
        self._read_at: float | None = None

    async def run(self) -> None:
        """Fetch metadata and keys every `REFRESH` seconds, and soon after a token with an unknown key arrives."""
        while True:
            self._wake.clear()
            try:
                with cancellation_kept():
                    await self.refresh()
            except ProviderFailedError as error:
                log.warning("! the OpenID provider %s: %s", self.issuer, error)
                await asyncio.sleep(RETRY)  # a waiting login doesn't cut this pause short
                continue
            try:
                async with asyncio.timeout(REFRESH):
                    await self._wake.wait()
            except TimeoutError:
                pass

    def key_is_unknown(self) -> bool:
        """Schedule a key fetch unless the keys were just fetched. Return whether a fetch is scheduled."""
        recently = self._read_at is not None and self._clock() - self._read_at < RETRY
        if not recently:
            self._wake.set()
        return not recently

    def known(self) -> Metadata:
        """Return the metadata. Raises `HawseError` (`unavailable`) before the first successful request."""
        if self.metadata is None:
            self._wake.set()
            raise HawseError("unavailable", "the identity provider cannot be reached", details={"retry_after": RETRY})
        return self.metadata

    async def refresh(self) -> None:
        """Fetch metadata and keys. Raises `ProviderFailedError`."""
        async with self._reading, self._client() as http:
            url = self.issuer.rstrip("/") + "/.well-known/openid-configuration"
            self.metadata = self._metadata(await _fetch(http, "GET", url))
            keys = _keys(await _fetch(http, "GET", self.metadata.keys))
            self._read_at = self._clock()
            if _values(keys) != _values(self.keys):
                self.keys = keys
                self.on_keys()

    async def exchange(self, form: Mapping[str, str], client_id: str, client_secret: str | None) -> str:
        """Exchange a code for an ID token, and return it.

        Args:
            form: The request parameters (RFC 6749, section 4.1.3).
            client_id: This gateway's client id.
            client_secret: This gateway's client secret. None if it is a public client.

        Raises:
            ProviderFailedError: The provider refused the request or returned no ID token.
        """
        metadata, auth, data = self.known(), None, {**form, "client_id": client_id}
        if client_secret is not None and metadata.basic:
            auth = (client_id, client_secret)
        elif client_secret is not None:
            data["client_secret"] = client_secret
        async with self._client() as http:
            answer = await _fetch(http, "POST", metadata.token, data=data, auth=auth)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise ProviderFailedError("the response has no ID token")
        return token

    def _client(self) -> httpx.AsyncClient:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return httpx.AsyncClient(verify=self._tls, trust_env=False, timeout=TIMEOUT, follow_redirects=False)

    def _metadata(self, found: Mapping[str, Any]) -> Metadata:
        if found.get("issuer") != self.issuer:
            raise ProviderFailedError(f"the metadata is for another issuer: {str(found.get('issuer'))[:200]!r}")
        authorization, token, keys = (
            _url(found.get(name)) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")
        )
        methods = found.get("token_endpoint_auth_methods_supported")
        basic = not isinstance(methods, list) or "client_secret_basic" in methods
        names_itself = found.get("authorization_response_iss_parameter_supported") is True
        return Metadata(authorization, token, keys, basic, names_itself)


def _url(given: object) -> str:
    if not isinstance(given, str) or not allowed_url(given):
        raise ProviderFailedError(f"the metadata contains a URL that is not https: {str(given)[:200]!r}")
    return given


def allowed_url(url: str) -> bool:
    """Return whether a provider URL is allowed: `https`, or `http` on this machine."""
    try:
        parts = urlsplit(url)
        name = parts.hostname
    except ValueError:
        return False
    local = name in ("localhost", "127.0.0.1", "::1")
    return bool(name) and (parts.scheme == "https" or (parts.scheme == "http" and local)) and not parts.fragment


async def _fetch(http: httpx.AsyncClient, method: str, url: str, **options: Any) -> dict[str, Any]:
    """Return the JSON object in a response. Raises `ProviderFailedError`."""
    body = bytearray()
    try:
        async with (
            asyncio.timeout(TIMEOUT),
            http.stream(method, url, headers={"accept": "application/json"}, **options) as answer,
        ):
            async for part in answer.aiter_bytes(ANSWER_SIZE):
                body += part
                if len(body) > ANSWER_SIZE:
                    raise ProviderFailedError(f"{url}: the response exceeds {ANSWER_SIZE} bytes")
        found = json.loads(body) if answer.status_code == 200 else None
    except (httpx.HTTPError, TimeoutError, OSError) as error:
        raise ProviderFailedError(f"{url} cannot be reached: {str(error) or type(error).__name__}") from error
    except (ValueError, RecursionError) as error:
        raise ProviderFailedError(f"{url}: the response is not JSON") from error
    if not isinstance(found, dict):
        raise ProviderFailedError(f"{url}: the response has status {answer.status_code}")
    return found


def _keys(found: Mapping[str, Any]) -> dict[str, Key]:
    """Return the usable signing keys in a JWK set."""
    given = found.get("keys")
    if not isinstance(given, list):
        raise ProviderFailedError("the key set has no list of keys")
    keys: dict[str, Key] = {}
    for one in given[:KEYS]:
        if not isinstance(one, dict) or one.get("kty") not in KEY_TYPES or one.get("use", "sig") != "sig":
            continue
        try:
            key = jwk.import_key(one)
            if isinstance(key, jwk.RSAKey) and key.public_key.key_size < RSA_BITS:
                continue
            keys[str(one.get("kid", ""))] = key
        except (JoseError, ValueError, TypeError, KeyError, Warning) as error:
            log.warning("! skipped an unusable key of the OpenID provider: %s", error)
    return keys


def _values(keys: Mapping[str, Key]) -> dict[str, Any]:
    return {id: key.as_dict() for id, key in keys.items()}
