"""Validates `Host` and `Origin` headers and authenticates callers. Every endpoint does this first. No I/O.

Any page in a browser can connect to loopback. Requests from pages of other origins are therefore refused (cross-site
WebSocket hijacking), and so are requests for unknown host names (DNS rebinding). An IP address in `Host` is accepted
because it cannot be rebound.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qs

from hawse.wire import HawseError
from hawse_gateway.auth import cookies, proxy_user
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.auth.hosts import is_address, split_host, split_origin
from hawse_gateway.auth.identity import Identity
from hawse_gateway.auth.tickets import Tickets
from hawse_gateway.limits.failed_attempts import FailedAttempts

SHOWN = 100  # maximum length of a header quoted in an error message, in characters
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")  # RFC 9110, section 9.2.1

Headers = Iterable[tuple[bytes, bytes]]


def header(headers: Headers, name: bytes) -> str | None:
    """Return a header's value, or None if it is absent. Raises `ValueError` if it occurs more than once."""
    values = [value for key, value in headers if key == name]
    if len(values) > 1:
        raise ValueError(f"{len(values)} {name.decode()} headers, expected one")
    return values[0].decode("latin-1").strip() if values else None


class AccessPolicy:
    """One gateway's access rules."""

    def __init__(
        self,
        credentials: Credentials,
        tickets: Tickets,
        *,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        failed_attempts: FailedAttempts | None = None,
    ) -> None:
        """Create the policy.

        Args:
            credentials: The owner's token and all stored tokens, links and sessions.
            tickets: The tickets, which replace tokens in URLs.
            hosts: Host names to accept in addition to localhost and IP addresses. Ports are ignored.
            origins: Additional origins whose pages may call the gateway. The gateway's own origin is always allowed.
            failed_attempts: Limits the number of wrong credentials per address. None disables the limit.

        Raises:
            ValueError: One of `hosts` is not a host, or one of `origins` is not an origin.
        """
        self._failed_attempts = failed_attempts
        self._credentials = credentials
        self._tickets = tickets
        self._hosts = {*LOOPBACK, *(split_host(host, "http")[0] for host in hosts)}
        self._origins = {split_origin(origin) for origin in origins}

    def host_allowed(self, headers: Headers) -> bool:
        """Return whether the request has a `Host` header that names this gateway."""
        try:
            name, _ = split_host(header(headers, b"host") or "", "http")
        except ValueError:
            return False
        return name in self._hosts or is_address(name)

    def check_host(self, headers: Headers) -> None:
        """Raise `HawseError` (`origin_denied`) unless `Host` names this gateway."""
        if not self.host_allowed(headers):
            given = next((value.decode("latin-1") for name, value in headers if name == b"host"), "")[:SHOWN]
            raise HawseError("origin_denied", f"{given!r} is not a name of this gateway: allow it with --allow-host")

    def check_origin(self, headers: Headers, scheme: str) -> None:
        """Raise `HawseError` (`origin_denied`) unless the origin is allowed."""
        if not self.origin_allowed(headers, scheme):
            given = next((value.decode("latin-1") for name, value in headers if name == b"origin"), "")[:SHOWN]
            raise HawseError(
                "origin_denied", f"origin {given!r} may not call this gateway: allow it with --allow-origin"
            )

    def origin_allowed(self, headers: Headers, scheme: str) -> bool:
        """Return whether the origin is allowed. Requests without an `Origin` header are also allowed.

        Args:
            headers: The request's headers.
            scheme: The request's scheme, such as `http` or `wss`.
        """
        try:
            value = header(headers, b"origin")
            return value is None or split_origin(value) in (_own_origin(headers, scheme), *self._origins)
        except ValueError:
            return False

    def admit(self, scope: Mapping[str, Any], *, ticket: bool = False) -> Identity:
        """Return the caller of a request.

        Args:
            scope: The ASGI scope of an HTTP request or a WebSocket.
            ticket: Whether to accept a ticket in the query.

        Raises:
            HawseError: `origin_denied`, `unauthenticated`, `limit_exceeded`.
        """
        self.check_origin(scope["headers"], scope["scheme"])
        identity = self.identity(scope, ticket=ticket)
        if identity is None:
            raise HawseError("unauthenticated", "the token, ticket or session is missing or not valid")
        return identity

    def identity(self, scope: Mapping[str, Any], *, ticket: bool = False) -> Identity | None:
        """Return the caller of a request, or None if it has no valid credential. The origin must have been checked.

        Raises:
            HawseError: `limit_exceeded` after too many wrong credentials from this address. With an identity provider,
                also `forbidden` and `unavailable` (`ExternalTokens`).
        """
        return self._counted(scope, self._identity(scope, ticket=ticket))

    def token(self, scope: Mapping[str, Any]) -> Identity | None:
        """Return the caller identified by the token in a request, or None. Raises the same errors as `identity`."""
        return self._counted(scope, self.bearer(scope["headers"]))

    def wrong(self, scope: Mapping[str, Any]) -> None:
        """Count a failed attempt with a credential other than a token or ticket. Raises the same errors as
        `identity`."""
        self._count(scope, None)

    def _counted(self, scope: Mapping[str, Any], found: Identity | None) -> Identity | None:
        """Count a failed attempt if `found` is None. Return `found`. Raises `HawseError` (`limit_exceeded`) if the
        address is blocked."""
        if found is not None or _presents(scope):
            self._count(scope, found)
        return found

    def _count(self, scope: Mapping[str, Any], found: Identity | None) -> None:
        if self._failed_attempts is not None:
            host, port = scope.get("client") or ("", 0)
            self._failed_attempts.check(f"{host}:{port}", None if found is None else found.credential)

    def _identity(self, scope: Mapping[str, Any], *, ticket: bool) -> Identity | None:
        """Return the caller of a request, or None if it has no valid credential. The origin must have been checked."""
        headers = scope["headers"]
        if any(name == b"authorization" for name, _ in headers):
            found = self.bearer(headers)
            row = None if found is None else self._credentials.get(found.credential)
            if row is not None and row.max_uses is not None:
                raise HawseError("forbidden", "this link has a limited number of uses: exchange it for a session")
            return found
        if ticket and (given := parse_qs(scope["query_string"].decode("latin-1")).get("ticket")):
            return self._ticket(given[0])
        return self.session(scope)

    def session(self, scope: Mapping[str, Any]) -> Identity | None:
        """Return a request's only valid session, or None if it has none or several."""
        found = self.sessions(scope)
        return next(iter(found)) if len(found) == 1 else None

    def sessions(self, scope: Mapping[str, Any]) -> dict[Identity, str]:
        """Return a request's valid sessions, each with its cookie.

        The gateway's page sends a cookie and a key for each session. Pages of other origins cannot use sessions.
        WebSockets use tickets instead, because a page cannot add a header to their handshake. A request with an
        unsafe method must have the gateway's own `Origin`. Browsers omit `Origin` from requests with a safe method.
        """
        headers, scheme = scope["headers"], scope["scheme"]
        if scope["type"] != "http" or not _is_own_page(headers, scheme, safe=scope["method"] in SAFE_METHODS):
            return {}
        found = {}
        for name, secrets in cookies.presented(headers, scheme).items():
            for secret in secrets:
                identity = self._credentials.find_session(name, secret)
                if identity is not None and proxy_user.counts(scope, self._credentials.root(identity.credential)):
                    found[identity] = cookies.halves(secret)[0]
        return found

    def bearer(self, headers: Headers) -> Identity | None:
        """Return the caller identified by the token in `Authorization`, or None."""
        try:
            kind, _, token = (header(headers, b"authorization") or "").partition(" ")
        except ValueError:
            return None
        found = self._credentials.find(token.strip()) if kind.lower() == "bearer" else None
        # A session's secret is only accepted if it is split into a cookie and a key, not as a bearer token.
        return None if found is None or self._credentials.kind(found.credential) == "session" else found

    def _ticket(self, ticket: str) -> Identity | None:
        identity = self._tickets.take(ticket)
        return identity if identity is not None and self._credentials.current(identity) else None


def _own_origin(headers: Headers, scheme: str) -> tuple[str, str, int]:
    """Return the gateway's own origin. Raises `ValueError` if there is no valid `Host`."""
    web = "https" if scheme in ("https", "wss") else "http"
    return web, *split_host(header(headers, b"host") or "", web)


def _is_own_page(headers: Headers, scheme: str, *, safe: bool) -> bool:
    """Return whether `Origin` is the gateway's own origin. A request with a safe method may omit the header."""
    try:
        value = header(headers, b"origin")
        return safe if value is None else split_origin(value) == _own_origin(headers, scheme)
    except ValueError:
        return False


def _presents(scope: Mapping[str, Any]) -> bool:
    """Return whether a request contains a token or ticket, valid or not. Sessions don't count, because browsers may
    send expired cookies."""
    return any(name == b"authorization" for name, _ in scope["headers"]) or b"ticket=" in scope["query_string"]
