"""Completes a login at `/v1/login`: starts the session, and sends the browser back to a page."""

import re
from typing import Final, Protocol
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hawse.wire import Principal
from hawse_gateway.auth import cookies
from hawse_gateway.auth.credential_rows import Credential
from hawse_gateway.auth.credentials import Credentials, name_of
from hawse_gateway.auth.identity import Identity

RETURN_MAX: Final = 1024  # maximum length of the path to return to, in characters
# One of this gateway's pages, possibly below a proxy's path. `/p/` and `/t/` are excluded because requests to them are
# forwarded to programs in sandboxes.
_PATH: Final = re.compile(r"/(?:(?![pt]/)[A-Za-z0-9_-]+/)*(?:[a-z]+\.html)?(?:\?[!-\[\]-~]*)?")
_PROOF: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")


class LoginAudit(Protocol):
    """The subset of the audit log's interface needed to record logins."""

    def connection(self, action: str, principal: Principal | None, address: str, outcome: str = "ok") -> None:
        """Record that a user signed in (`login`) or failed to sign in."""


def valid_return(path: str) -> bool:
    """Return whether a login may redirect to `path`, which must be one of this gateway's pages, without a fragment.

    The fragment is used to pass the session's key to the page's scripts.
    """
    return len(path) <= RETURN_MAX and "#" not in path and _PATH.fullmatch(path) is not None


def valid_proof(proof: str) -> bool:
    """Return whether `proof` is well-formed.

    A proof is random text that a page sends when it starts a login. After the login, the page checks that it gets the
    same proof back. Otherwise, another page could make a browser complete a login that the browser's user didn't start.
    """
    return _PROOF.fullmatch(proof) is not None


def redirect(address: str) -> Response:
    """Return a redirect that must not be cached."""
    return RedirectResponse(address, 303, {"cache-control": "no-store"})


async def begin_session(
    request: Request, credentials: Credentials, login: Identity, path: str, proof: str
) -> tuple[Response, Credential]:
    """Start a session for a login. Return a redirect to `path`, and the session's row.

    Args:
        request: The last request in the login.
        credentials: The table that stores the session.
        login: The user who signed in.
        path: The page to return to.
        proof: The page's proof (see `valid_proof`).

    Raises:
        HawseError: `limit_exceeded`, or `unavailable` if the store is unavailable.
    """
    secret, row = await credentials.begin_session(login)
    left = await credentials.extend(row.id)
    cookie, key = cookies.halves(secret)
    name = name_of(row.id)
    response = redirect(f"{path}#{urlencode({'session': f'{name}.{key}', 'proof': proof})}")
    headers, scheme = request.scope["headers"], request.scope["scheme"]
    for value in cookies.keep_session(headers, scheme, name, cookie, left or 0.0):
        response.headers.append("set-cookie", value)
    return response, row
