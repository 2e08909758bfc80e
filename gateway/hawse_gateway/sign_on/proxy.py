"""Sign-in through a trusted proxy: `/v1/login` starts a session for the user whom the proxy has authenticated.

The session is only valid for requests from the same user (`hawse_gateway.auth.proxy_user`), so it can't be used once
the user has signed out of the proxy.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hawse.wire import HawseError
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.auth.identity import Identity
from hawse_gateway.auth.proxy_user import SCOPE_KEY, ProxyUser, login_id
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.http.endpoint import address_of
from hawse_gateway.http.responses import error_response
from hawse_gateway.http.return_path import LoginAudit, begin_session, redirect, valid_proof, valid_return
from hawse_gateway.sign_on.oidc.users import RoleRule, Users

LIFETIME: Final = 12 * 3600.0  # session lifetime in seconds; signing in again updates the user's groups


class ProxySignOn:
    """A gateway's sign-in through a proxy (`hawse_gateway.sign_on.feature.SignOn`)."""

    name = "the proxy"

    def __init__(self, roles: Sequence[str], credentials: Credentials) -> None:
        """Create the sign-in service.

        Args:
            roles: Role rules of the form `GROUP=ROLE` or `GROUP=own:ROLE`.
            credentials: The table where logins and sessions are stored.

        Raises:
            SettingsError: A role rule does not have one of these forms.
        """
        try:
            rules = [RoleRule.parse(text) for text in roles]
        except ValueError as error:
            raise SettingsError(f"--proxy-role {error}") from error
        self._users = Users(rules)
        self._credentials = credentials
        self._audit: LoginAudit

    def routes(self, access_policy: AccessPolicy, audit: LoginAudit) -> list[Route]:
        """Return the login route."""
        self._audit = audit
        return [Route("/v1/login", self._login, methods=["GET"])]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Do nothing, since there is no background task."""
        await asyncio.sleep(0)
        yield

    async def _login(self, request: Request) -> Response:
        address = address_of(request.scope)
        path, proof = request.query_params.get("return", "/"), request.query_params.get("proof", "")
        try:
            if not valid_return(path):
                raise HawseError("invalid_params", "`return` must be a page of this gateway, such as /?sandbox=local")
            if not valid_proof(proof):
                return redirect(path)  # the page then adds a proof and restarts the login
            login = await self._sign_in(request)
            response, row = await begin_session(request, self._credentials, login, path, proof)
        except HawseError as error:
            self._audit.connection("login", None, address, error.code)
            return error_response(error)
        self._audit.connection("login", row.principal, address)
        return response

    async def _sign_in(self, request: Request) -> Identity:
        user: ProxyUser | None = request.scope.get(SCOPE_KEY)
        if user is None:
            raise HawseError("unauthenticated", "the request did not come through the proxy, or has no user")
        principal = self._users.principal({"sub": user.id, "groups": list(user.groups)})
        return await self._credentials.log_in(login_id(user), principal, lifetime=LIFETIME)
