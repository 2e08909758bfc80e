"""`/v1/login`: browsers sign in with the provider (authorization code flow with PKCE) and get a session.

The state of a pending login is kept in a cookie. Any gateway can therefore complete the login, and abandoned logins
take up no memory. The cookie is `SameSite=Lax` because the provider is on another site. Programs on other ports of the
same host can read and set the cookie. For this reason, the page that started the login also checks its own `proof`,
which is part of `state` but is not stored in the cookie.
"""

import base64
import hashlib
import hmac
import html
import logging
import secrets
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from hawse.wire import HawseError, Principal
from hawse_gateway.auth import cookies
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.http.endpoint import address_of
from hawse_gateway.http.return_path import LoginAudit, begin_session, redirect, valid_proof, valid_return
from hawse_gateway.sign_on.oidc.provider import OidcProvider, ProviderFailedError
from hawse_gateway.sign_on.oidc.tokens import InvalidTokenError, UnknownKeyError, Verifier
from hawse_gateway.sign_on.oidc.users import Users

log = logging.getLogger(__name__)

BEGIN: Final = "/v1/login"
CALLBACK: Final = "/v1/login/callback"
SCOPES: Final = "openid profile email"
COOKIE_LIFETIME: Final = 600  # seconds that a user has to sign in with the provider
SECRET_BYTES: Final = 32
AT_ONCE: Final = 32  # maximum number of concurrent requests to the provider, since anyone can start a login
PARAMETER_MAX: Final = 4096  # maximum length of the query string that the provider adds to the redirect

PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign-in failed</title>
<h1>Sign-in failed</h1><p>{text}</p><p><a href="/">Try again</a></p></html>
"""


class OidcClient(NamedTuple):
    """This gateway as a client of the provider.

    Attributes:
        id: The gateway's client id.
        secret: The client secret. None if the gateway is a public client.
        lifetime: The lifetime of a session in seconds. When it has expired, users must sign in again.
    """

    id: str
    secret: str | None
    lifetime: float


class _Pending(NamedTuple):
    """A pending login, as stored in the login cookie."""

    state: str  # digest of the `state` parameter
    nonce: str
    verifier: str
    path: str

    def encode(self) -> str:
        path = base64.urlsafe_b64encode(self.path.encode()).decode().rstrip("=")
        return ".".join((self.state, self.nonce, self.verifier, path))

    @classmethod
    def decode(cls, text: str) -> "_Pending | None":
        parts = text.split(".")
        if len(parts) != 4 or not all(parts):
            return None
        try:
            path = base64.urlsafe_b64decode(parts[3] + "=" * (-len(parts[3]) % 4)).decode()
        except ValueError:
            return None
        return cls(parts[0], parts[1], parts[2], path) if valid_return(path) else None


class LoginEndpoints:
    """Handlers for the login routes."""

    def __init__(
        self,
        provider: OidcProvider,
        verifier: Verifier,
        users: Users,
        client: OidcClient,
        *,
        access_policy: AccessPolicy,
        credentials: Credentials,
        audit: LoginAudit,
    ) -> None:
        """Create the handlers.

        Args:
            provider: Signs users in.
            verifier: Verifies the provider's ID tokens.
            users: Maps claims to users.
            client: This gateway as a client of the provider.
            access_policy: Limits failed logins per address.
            credentials: The table where logins and sessions are stored.
            audit: Notified of logins.
        """
        self._provider = provider
        self._verifier = verifier
        self._users = users
        self._client = client
        self._access_policy = access_policy
        self._credentials = credentials
        self._audit = audit
        self._busy = 0

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [Route(BEGIN, self._begin, methods=["GET"]), Route(CALLBACK, self._complete, methods=["GET"])]

    async def _begin(self, request: Request) -> Response:
        """Redirect the browser to the provider. The request's query string contains the page to return to and the
        page's proof."""
        path, proof = request.query_params.get("return", "/"), request.query_params.get("proof", "")
        try:
            if not valid_return(path):
                raise HawseError("invalid_params", "`return` must be a page of this gateway, such as /?sandbox=local")
            if not valid_proof(proof):
                return redirect(path)  # the page then adds a proof and restarts the login
            metadata = self._provider.known()
        except HawseError as error:
            return _failed(error)
        state, nonce, verifier = (secrets.token_urlsafe(SECRET_BYTES) for _ in range(3))
        state = f"{state}.{proof}"
        pending = _Pending(_digest(state), nonce, verifier, path)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(pending.verifier.encode()).digest()).decode().rstrip("=")
        query = {
            "response_type": "code",
            "client_id": self._client.id,
            "redirect_uri": _callback(request),
            "scope": SCOPES,
            "state": state,
            "nonce": pending.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        separator = "&" if urlsplit(metadata.authorization).query else "?"
        response = redirect(f"{metadata.authorization}{separator}{urlencode(query)}")
        _set(request, response, pending.encode(), COOKIE_LIFETIME)
        return response

    async def _complete(self, request: Request) -> Response:
        """Complete a login using the query parameters from the provider."""
        address = address_of(request.scope)
        try:
            response, principal = await self._sign_in(request)
            self._audit.connection("login", principal, address)
        except HawseError as error:
            self._audit.connection("login", None, address, error.code)
            response = _failed(error)
        _set(request, response, "", 0)
        return response

    async def _sign_in(self, request: Request) -> tuple[Response, Principal]:
        given = {name: value for name, value in request.query_params.items() if len(value) <= PARAMETER_MAX}
        pending = self._pending(request, given)
        if "error" in given:
            raise HawseError("unauthenticated", f"the identity provider refused: {given['error'][:100]!r}")
        if given.get("iss", self._provider.issuer) != self._provider.issuer or (
            "iss" not in given and self._provider.known().names_itself
        ):
            raise HawseError("unauthenticated", "the response is not from the identity provider")  # RFC 9207
        claims = await self._exchange(request, given.get("code", ""), pending)
        principal = self._users.principal(claims)
        subject = hashlib.sha256(f"{self._provider.issuer}\n{claims['sub']}".encode()).hexdigest()
        login = await self._credentials.log_in(f"login-{subject[:32]}", principal, lifetime=self._client.lifetime)
        _, _, proof = given["state"].partition(".")
        response, row = await begin_session(request, self._credentials, login, pending.path, proof)
        return response, row.principal

    def _pending(self, request: Request, given: Mapping[str, str]) -> _Pending:
        """Return this browser's pending login. Raises `HawseError`."""
        state, cookie = _digest(given.get("state", "")), _cookie_name(request)
        for name, value in cookies.pairs(request.scope["headers"]):
            pending = _Pending.decode(value) if name == cookie else None
            if pending is not None and hmac.compare_digest(pending.state.encode(), state.encode()):
                return pending
        self._access_policy.wrong(request.scope)
        raise HawseError("unauthenticated", "this browser did not start this login, or it has expired: sign in again")

    async def _exchange(self, request: Request, code: str, pending: _Pending) -> Mapping[str, Any]:
        """Return the user's verified claims. Raises `HawseError`."""
        if self._busy >= AT_ONCE:
            text = "too many users are signing in: try again"
            raise HawseError("limit_exceeded", text, details={"retry_after": 1.0})
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": _callback(request),
            "code_verifier": pending.verifier,
        }
        self._busy += 1
        try:
            token = await self._provider.exchange(form, self._client.id, self._client.secret)
            try:
                return self._verifier.verify_login(token, self._client.id, pending.nonce)
            except UnknownKeyError:
                await self._provider.refresh()  # the provider may have added a key
                return self._verifier.verify_login(token, self._client.id, pending.nonce)
        except (ProviderFailedError, InvalidTokenError) as error:
            log.warning("! login failed: %s", error)
            self._access_policy.wrong(request.scope)
            raise HawseError("unauthenticated", "the identity provider did not confirm the login") from error
        finally:
            self._busy -= 1


def _callback(request: Request) -> str:
    """Return the URL that the provider redirects browsers to after a login. The caller must have checked `Host`."""
    return f"{request.url.scheme}://{request.headers['host']}{CALLBACK}"


def _cookie_name(request: Request) -> str:
    """Return the cookie name, which contains the port, because browsers send cookies to all ports on a host."""
    secure = request.url.scheme == "https"
    return f"{'__Host-' if secure else ''}hawse-login-{request.url.port or (443 if secure else 80)}"


def _set(request: Request, response: Response, value: str, lifetime: int) -> None:
    secure = "; Secure" if request.url.scheme == "https" else ""
    attributes = f"Path=/; Max-Age={lifetime}; HttpOnly; SameSite=Lax{secure}"
    response.headers.append("set-cookie", f"{_cookie_name(request)}={value}; {attributes}")


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()


def _failed(error: HawseError) -> Response:
    page = PAGE.format(text=html.escape(error.message))
    return HTMLResponse(page, error.status, headers={"cache-control": "no-store"})
