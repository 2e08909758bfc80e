"""`/v1/session` and `/v1/tickets`: what a browser uses in place of a token (docs/wire.md section 1).

The page exchanges its token for a cookie that scripts cannot read, and the cookie for tickets.
"""

from typing import Any, Protocol

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.auth import cookies
from gateway.auth.access_policy import AccessPolicy
from gateway.auth.credentials import Credentials
from gateway.auth.identity import Identity
from gateway.auth.principals import role_of
from gateway.auth.tickets import LIFETIME, Tickets
from gateway.http.endpoint import address_of
from gateway.http.responses import error_response, json_response
from hawse.wire import HawseError, Principal


class SessionReply(msgspec.Struct, frozen=True, kw_only=True):
    """A session.

    Attributes:
        session: Its id in this browser, the value of the header `Hawse-Session`. It is not secret.
        user: The id of the principal.
        name: The name of the token or link, for people.
        kind: The kind of the principal: `owner`, `user` or `guest`.
        role: What it may do.
        expires_in: Seconds until it ends without further use.
    """

    session: str
    user: str
    name: str
    kind: str
    role: str
    expires_in: float


class LoginReply(msgspec.Struct, frozen=True, kw_only=True):
    """How a user of this gateway can sign in, beside a token.

    Attributes:
        provider: The name of the identity provider, to which `/v1/login` leads. Null: there is none.
    """

    provider: str | None


class SessionAudit(Protocol):
    """The audit log."""

    def connection(self, action: str, principal: Principal, address: str, outcome: str = "ok") -> None:
        """A session was begun (`sign-in`) or ended (`sign-out`)."""


class SessionEndpoints:
    """The handlers."""

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
            tickets: Those that sessions get.
            audit: Is notified of sessions that begin and end.
            provider: The name of the identity provider. None: there is none.
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
            identity = self._admit(request)
            response = json_response(self._describe(identity, await self._credentials.extend(identity.credential)))
            await self._keep(request, identity, response)
            return response
        except HawseError as error:
            return error_response(error)

    async def _login_info(self, request: Request) -> Response:
        return json_response(LoginReply(provider=self._provider))

    async def _ticket(self, request: Request) -> Response:
        try:
            identity = self._access_policy.admit(request.scope)
            response = json_response({"ticket": self._tickets.issue(identity), "expires_in": int(LIFETIME)}, 201)
            if self._credentials.kind(identity.credential) == "session":
                # Not in each answer: one that is lost within this header leaves an invalid cookie, except with TLS.
                await self._credentials.extend(identity.credential)
                if self._credentials.identity(identity.credential) != identity:
                    await self._keep(request, identity, response)
            return response
        except HawseError as error:
            return error_response(error)

    async def _sign_in(self, request: Request) -> Response:
        """Exchange a token for a session; a browser that has a session with this token keeps it."""
        headers, scheme = request.scope["headers"], request.scope["scheme"]
        self._access_policy.check_origin(headers, scheme)
        identity = self._access_policy.token(request.scope)
        if identity is None:
            raise HawseError("unauthenticated", "the token is missing or not valid")
        name = cookies.session_name(identity.credential)
        secret = cookies.sessions(headers, scheme).get(name, "")
        session = self._credentials.find_session(secret)
        left = None if session is None else await self._credentials.extend(session.credential)
        if session is None or left is None or self._credentials.root(session.credential) != identity.credential:
            secret, row = await self._credentials.begin_session(identity)
            left = await self._credentials.extend(row.id)
            self._audit.connection("sign-in", row.principal, address_of(request.scope))
        response = json_response(self._describe(identity, left), 201)
        for cookie in cookies.keep_session(headers, scheme, name, secret, left or 0.0):
            response.headers.append("set-cookie", cookie)
        return response

    async def _sign_out(self, request: Request) -> Response:
        identity = self._admit(request)
        name = cookies.session_name(self._credentials.root(identity.credential))
        await self._credentials.revoke(identity.credential)
        self._audit.connection("sign-out", identity.principal, address_of(request.scope))
        response = Response(status_code=204)
        _delete(request, response, name)
        return response

    def _admit(self, request: Request) -> Identity:
        """Return the session of a request that has no other credential. Raises `HawseError`."""
        identity = self._access_policy.admit(request.scope)
        if self._credentials.kind(identity.credential) != "session":
            raise HawseError("unauthenticated", "this request has no session")
        return identity

    async def _keep(self, request: Request, identity: Identity, response: Response) -> None:
        """Let the browser keep the cookie as long as the session, which is used now."""
        left = await self._credentials.extend(identity.credential)
        for name, secret in cookies.sessions(request.scope["headers"], request.scope["scheme"]).items():
            found = self._credentials.find_session(secret)
            if found is not None and found.credential == identity.credential:
                _set(request, response, name, secret, left)

    def _describe(self, identity: Identity, left: float | None) -> SessionReply:
        principal = identity.principal
        return SessionReply(
            session=cookies.session_name(self._credentials.root(identity.credential)),
            user=principal.id,
            name=principal.name,
            kind=principal.kind,
            role=role_of(principal),
            expires_in=0.0 if left is None else round(left, 1),
        )


def _set(request: Request, response: Response, name: str, secret: str, left: float | None) -> None:
    scope: Any = request.scope
    value = cookies.set_cookie(scope["headers"], scope["scheme"], name, secret, left or 0.0)
    response.headers.append("set-cookie", value)


def _delete(request: Request, response: Response, name: str) -> None:
    _set(request, response, name, "", 0.0)
