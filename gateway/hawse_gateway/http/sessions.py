"""`/v1/session` and `/v1/tickets`: sessions and tickets replace tokens in browsers (docs/wire.md section 1).

A page exchanges its token for a session, and the session for tickets. A session consists of a cookie that scripts can't
read and a key that the page keeps in its origin's storage (docs/decisions/0280).
"""

from typing import Protocol

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hawse.wire import HawseError, Principal
from hawse_gateway.auth import cookies
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.credentials import Credentials, name_of
from hawse_gateway.auth.identity import Identity
from hawse_gateway.auth.principals import role_of
from hawse_gateway.auth.tickets import LIFETIME, Tickets
from hawse_gateway.http.endpoint import address_of
from hawse_gateway.http.responses import error_response, json_response


class SessionReply(msgspec.Struct, frozen=True, kw_only=True):
    """A response that describes a session.

    Attributes:
        session: The session's id, which is not secret. The `Hawse-Session` header contains `SESSION.KEY`.
        key: The session's key. Empty if the request contained the key.
        user: The principal's id.
        name: The token's or link's display name.
        kind: The principal's kind: `owner`, `user` or `guest`.
        role: The role, such as `owner` or `viewer`.
        expires_in: Seconds until the session expires, unless it is used in the meantime.
    """

    session: str
    key: str = ""
    user: str
    name: str
    kind: str
    role: str
    expires_in: float


class LoginReply(msgspec.Struct, frozen=True, kw_only=True):
    """How users can sign in to this gateway without a token.

    Attributes:
        provider: The name of the identity provider behind `/v1/login`. Null if none is configured.
    """

    provider: str | None


class SessionAudit(Protocol):
    """The subset of the audit log's interface needed to record sessions."""

    def connection(self, action: str, principal: Principal, address: str, outcome: str = "ok") -> None:
        """Record that a session started (`sign-in`) or ended (`sign-out`)."""


class SessionEndpoints:
    """Handlers for the session routes."""

    def __init__(
        self,
        access_policy: AccessPolicy,
        credentials: Credentials,
        tickets: Tickets,
        audit: SessionAudit,
        provider: str | None = None,
    ) -> None:
        """Create the handlers.

        Args:
            access_policy: Authenticates callers.
            credentials: The sessions.
            tickets: The tickets that callers can obtain with a session.
            audit: Notified when sessions start and end.
            provider: The name of the identity provider, if one is configured.
        """
        self._audit = audit
        self._provider = provider
        self._access_policy = access_policy
        self._credentials = credentials
        self._tickets = tickets

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/v1/session", self._session, methods=["GET", "POST", "DELETE"]),
            Route("/v1/tickets", self._ticket, methods=["POST"]),
            Route("/v1/login/info", self._login_info, methods=["GET"]),
        ]

    async def _session(self, request: Request) -> Response:
        try:
            if request.method == "POST":
                return await self._sign_in(request)
            if request.method == "DELETE":
                return await self._sign_out(request)
            identity, cookie = self._admit(request)
            left = await self._credentials.extend(identity.credential)
            response = json_response(self._describe(identity, identity.credential, left))
            _set(request, response, identity.credential, cookie, left)
            return response
        except HawseError as error:
            return error_response(error)

    async def _login_info(self, request: Request) -> Response:
        return json_response(LoginReply(provider=self._provider))

    async def _ticket(self, request: Request) -> Response:
        try:
            identity = self._access_policy.admit(request.scope)
            response = json_response({"ticket": self._tickets.issue(identity), "expires_in": int(LIFETIME)}, 201)
            cookie = self._access_policy.sessions(request.scope).get(identity)
            if cookie is not None:
                # The cookie is set again only if the session was extended. Without TLS, the browser would store a
                # truncated cookie if the connection is lost in the middle of this header.
                left = await self._credentials.extend(identity.credential)
                if self._credentials.identity(identity.credential) != identity:
                    _set(request, response, identity.credential, cookie, left)
            return response
        except HawseError as error:
            return error_response(error)

    async def _sign_in(self, request: Request) -> Response:
        """Exchange a token for a session. If the page already has a session for this token, it keeps this session."""
        headers, scheme = request.scope["headers"], request.scope["scheme"]
        self._access_policy.check_origin(headers, scheme)
        identity = self._access_policy.token(request.scope)
        if identity is None:
            raise HawseError("unauthenticated", "the token is missing or not valid")
        for session, cookie in self._access_policy.sessions(request.scope).items():
            if self._credentials.root(session.credential) == identity.credential:
                left = await self._credentials.extend(session.credential)
                response = json_response(self._describe(identity, session.credential, left), 201)
                _set(request, response, session.credential, cookie, left)
                return response
        secret, row = await self._credentials.begin_session(identity)
        left = await self._credentials.extend(row.id)
        self._audit.connection("sign-in", row.principal, address_of(request.scope))
        cookie, key = cookies.halves(secret)
        response = json_response(self._describe(identity, row.id, left, key), 201)
        for value in cookies.keep_session(headers, scheme, name_of(row.id), cookie, left or 0.0):
            response.headers.append("set-cookie", value)
        return response

    async def _sign_out(self, request: Request) -> Response:
        identity, _ = self._admit(request)
        await self._credentials.revoke(identity.credential)
        self._audit.connection("sign-out", identity.principal, address_of(request.scope))
        response = Response(status_code=204)
        _set(request, response, identity.credential, "", 0.0)
        return response

    def _admit(self, request: Request) -> tuple[Identity, str]:
        """Return the session and cookie of a request that has no other credentials. Raises `HawseError`."""
        identity = self._access_policy.admit(request.scope)
        cookie = self._access_policy.sessions(request.scope).get(identity)
        if cookie is None:
            raise HawseError("unauthenticated", "this request has no session")
        return identity, cookie

    def _describe(self, identity: Identity, session: str, left: float | None, key: str = "") -> SessionReply:
        principal = identity.principal
        return SessionReply(
            session=name_of(session),
            key=key,
            user=principal.id,
            name=principal.name,
            kind=principal.kind,
            role=role_of(principal),
            expires_in=0.0 if left is None else round(left, 1),
        )


def _set(request: Request, response: Response, session: str, cookie: str, left: float | None) -> None:
    headers, scheme = request.scope["headers"], request.scope["scheme"]
    value = cookies.set_cookie(headers, scheme, name_of(session), cookie, left or 0.0)
    response.headers.append("set-cookie", value)
