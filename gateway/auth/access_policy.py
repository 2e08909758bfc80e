"""Validate the Host and Origin headers and authenticate the bearer token. Every endpoint calls this first. No I/O.

A browser connects to loopback for any page that it shows. Requests of pages from other origins are therefore refused
(cross-site WebSocket hijacking), and so are unknown host names, which may have been made to resolve to this machine
(DNS rebinding). An IP address as `Host` cannot be rebound, so it is accepted.
"""

import hmac
import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from gateway.auth.principals import OWNER, VIEWER
from hawse.wire import HawseError, Principal

SHOWN = 100  # characters of a header that an error message repeats
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}

Headers = Iterable[tuple[bytes, bytes]]


def header(headers: Headers, name: bytes) -> str | None:
    """Return the value of a header, or None without it. Raises `ValueError` if it occurs more than once."""
    values = [value for key, value in headers if key == name]
    if len(values) > 1:
        raise ValueError(f"{len(values)} headers {name.decode()}")
    return values[0].decode("latin-1").strip() if values else None


def split_host(authority: str, scheme: str) -> tuple[str, int]:
    """Return the name, in lower case, and the port of `name[:port]`; the default port is that of `scheme`.

    Raises:
        ValueError: `authority` is not a host.
    """
    parts = urlsplit(f"//{authority}")
    if not parts.hostname or parts.path or parts.query or parts.fragment or "@" in authority:
        raise ValueError(f"not a host: {authority!r}")
    return parts.hostname, parts.port or _PORTS[scheme]


def split_origin(origin: str) -> tuple[str, str, int]:
    """Return the scheme, name and port of an origin. Raises `ValueError` for `null` and anything else."""
    scheme, separator, authority = origin.lower().partition("://")
    if not separator or scheme not in _PORTS:
        raise ValueError(f"not an origin: {origin!r}")
    return scheme, *split_host(authority, scheme)


def is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class AccessPolicy:
    """The rules of one gateway."""

    def __init__(
        self, token: str, *, viewer_token: str | None = None, hosts: Iterable[str] = (), origins: Iterable[str] = ()
    ) -> None:
        """Create the rules.

        Args:
            token: The token of the owner.
            viewer_token: The token for read-only access. None: there is none.
            hosts: Names that the gateway is reached by, beside localhost and IP addresses. A port is ignored.
            origins: Origins whose pages may call, beside the gateway's own.

        Raises:
            ValueError: One of `hosts` is not a host, or one of `origins` not an origin.
        """
        self.viewer_token = viewer_token
        self._tokens = [(OWNER, token.encode())]
        if viewer_token is not None:
            self._tokens.append((VIEWER, viewer_token.encode()))
        self._hosts = {*LOOPBACK, *(split_host(host, "http")[0] for host in hosts)}
        self._origins = {split_origin(origin) for origin in origins}

    def host_allowed(self, headers: Headers) -> bool:
        """Return whether `Host` is a name of this gateway. A request without the header is refused."""
        try:
            name, _ = split_host(header(headers, b"host") or "", "http")
        except ValueError:
            return False
        return name in self._hosts or is_address(name)

    def check_host(self, headers: Headers) -> None:
        """Raise `HawseError` (`origin_denied`) unless `Host` is a name of this gateway."""
        if not self.host_allowed(headers):
            given = next((value.decode("latin-1") for name, value in headers if name == b"host"), "")[:SHOWN]
            raise HawseError("origin_denied", f"{given!r} is not a name of this gateway: allow it with --allow-host")

    def check_origin(self, headers: Headers, scheme: str) -> None:
        """Raise `HawseError` (`origin_denied`) unless `origin_allowed`."""
        if not self.origin_allowed(headers, scheme):
            given = next((value.decode("latin-1") for name, value in headers if name == b"origin"), "")[:SHOWN]
            raise HawseError(
                "origin_denied", f"origin {given!r} may not call this gateway: allow it with --allow-origin"
            )

    def origin_allowed(self, headers: Headers, scheme: str) -> bool:
        """Return whether `Origin` is absent (not a browser), the gateway's own, or allowed.

        Args:
            headers: The headers of the request.
            scheme: The scheme of the request, such as `http` or `wss`.
        """
        try:
            value = header(headers, b"origin")
            if value is None:
                return True
            origin = split_origin(value)
            web = "https" if scheme in ("https", "wss") else "http"
            own = (web, *split_host(header(headers, b"host") or "", web))
        except ValueError:
            return False
        return origin == own or origin in self._origins

    def admit(self, headers: Headers, scheme: str) -> Principal:
        """Return the principal that makes a request. Raises `HawseError`: `origin_denied`, `unauthenticated`."""
        self.check_origin(headers, scheme)
        principal = self.principal(headers)
        if principal is None:
            raise HawseError("unauthenticated", "the token is missing or not valid")
        return principal

    def principal(self, headers: Headers) -> Principal | None:
        """Return the principal whose token `Authorization` bears, or None; tokens are compared in constant time."""
        try:
            kind, _, token = (header(headers, b"authorization") or "").partition(" ")
        except ValueError:
            return None
        given = token.strip().encode("latin-1")
        found = [principal for principal, known in self._tokens if hmac.compare_digest(given, known)]
        return found[0] if found and kind.lower() == "bearer" else None
