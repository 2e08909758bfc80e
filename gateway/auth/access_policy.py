"""Who may knock: the checks of `Host`, `Origin` and token that every door makes before anything else. No I/O.

A browser sends its cookies and reaches loopback for any page it shows, so a page of a foreign origin is turned
away (cross-site WebSocket hijacking), and so is a foreign name that was made to point here (DNS rebinding). An IP
address as `Host` can't be rebound, so it passes.
"""

import hmac
import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from gateway.auth.principals import OWNER, VIEWER
from hawse.wire import HawseError, Principal

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}

Headers = Iterable[tuple[bytes, bytes]]


def header(headers: Headers, name: bytes) -> str | None:
    """The value of a header that may come once; None without it. Raises `ValueError` if it comes more often."""
    values = [value for key, value in headers if key == name]
    if len(values) > 1:
        raise ValueError(f"{len(values)} headers {name.decode()}")
    return values[0].decode("latin-1").strip() if values else None


def split_host(authority: str, scheme: str) -> tuple[str, int]:
    """Name in lower case and port of `name[:port]`, the scheme's own by default. Raises `ValueError`."""
    parts = urlsplit(f"//{authority}")
    if not parts.hostname or parts.path or parts.query or parts.fragment or "@" in authority:
        raise ValueError(f"not a host: {authority!r}")
    return parts.hostname, parts.port or _PORTS[scheme]


def split_origin(origin: str) -> tuple[str, str, int]:
    """Scheme, name and port of an origin. Raises `ValueError` for `null` and whatever else is none."""
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
    """The rules of one gateway. `hosts` are names it is reached by, `origins` pages that may call it."""

    def __init__(
        self, token: str, *, viewer_token: str | None = None, hosts: Iterable[str] = (), origins: Iterable[str] = ()
    ) -> None:
        """`token` makes an owner; `viewer_token`, if there is one, somebody who may only look."""
        self.viewer_token = viewer_token
        self._tokens = [(OWNER, token.encode())]
        if viewer_token is not None:
            self._tokens.append((VIEWER, viewer_token.encode()))
        self._hosts = {*LOOPBACK, *(host.lower() for host in hosts)}
        self._origins = {split_origin(origin) for origin in origins}

    def host_allowed(self, headers: Headers) -> bool:
        """Whether `Host` is one of ours. Without the header it is not."""
        try:
            name, _ = split_host(header(headers, b"host") or "", "http")
        except ValueError:
            return False
        return name in self._hosts or is_address(name)

    def origin_allowed(self, headers: Headers, scheme: str) -> bool:
        """Whether `Origin` is absent (no browser), our own, or allowed. `scheme` is that of the request."""
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
        if not self.origin_allowed(headers, scheme):
            raise HawseError("origin_denied", "this page is of a foreign origin")
        principal = self.principal(headers)
        if principal is None:
            raise HawseError("unauthenticated", "no token, or one that does not hold")
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
