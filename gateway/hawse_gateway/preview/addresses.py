"""Parses preview addresses (docs/decisions/0038) and tunnel addresses (docs/decisions/0250). No I/O.

http://{port}-{sandbox}-{token}.{preview host}/…    with a separate origin
http://gateway/p/{sandbox}/{token}/…                on the gateway's origin, with sandboxed pages
http://t-{name}.{preview host}/…                    a tunnel with a separate origin
http://gateway/t/{name}/…                           a tunnel on the gateway's origin
"""

import hashlib
import re
from typing import Any, Final, NamedTuple

from hawse_gateway.auth.access_policy import Headers, header
from hawse_gateway.auth.hosts import split_host
from hawse_gateway.transport.uvicorn_http import EMPTY_QUERY

PREFIX: Final = "/p/"
MARK: Final = 8  # number of characters of a token or digest that are used in a cookie name prefix
_PATH = re.compile(
    rb"/p/(?P<sandbox>[A-Za-z0-9][A-Za-z0-9_.-]{0,63})/(?P<token>[a-z0-9]{1,64})(?P<rest>/.*)?", re.DOTALL
)
_LABEL = re.compile(r"(?P<port>[1-9][0-9]{0,4})-(?P<sandbox>[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)-(?P<token>[a-z0-9]{8,})")
_TUNNEL_PATH = re.compile(rb"/t/(?P<name>[a-z0-9-]{1,40})(?P<rest>/.*)?", re.DOTALL)
_TUNNEL_LABEL = re.compile(r"t-(?P<name>[a-z0-9-]{1,40})")


class PreviewTarget(NamedTuple):
    """The preview or tunnel that a request is for."""

    sandbox: str  # empty for tunnels
    token: str  # the token of a preview, or the name of a tunnel
    path: bytes  # path and query as seen by the program
    prefix: str  # stripped from the path before it reaches the program; empty for previews by host name
    port: int | None  # the port in the host name; None if the preview is path-based
    host: str  # the `Host` header, with the port
    tunnel: bool = False

    @property
    def by_path(self) -> bool:
        return bool(self.prefix)

    @property
    def mark(self) -> str:
        """The cookie name prefix for path-based addresses. For tunnels, it contains a digest, because one tunnel's name
        can be a prefix of another's.
        """
        if self.tunnel:
            return f"t-{hashlib.sha256(self.token.encode()).hexdigest()[:MARK]}-"
        return f"p-{self.token[:MARK]}-"


class PreviewAddresses:
    """Recognizes requests to previews and tunnels.

    Args:
        host: The parent domain of preview host names. None if previews have only path-based addresses.
    """

    def __init__(self, host: str | None) -> None:
        self._suffix = f".{host.lower()}" if host else None

    def find(self, scope: Any) -> PreviewTarget | None:
        """Return the target of an HTTP or WebSocket request, or None if the request is for the gateway itself."""
        host = _host(scope["headers"])
        asked = scope["query_string"] or EMPTY_QUERY in scope.get("extensions", ())
        query = b"?" + scope["query_string"] if asked else b""
        path = scope.get("raw_path") or scope["path"].encode()
        label = self._label(host)
        if label is not None and (found := _LABEL.fullmatch(label)):
            port = int(found["port"])
            return PreviewTarget(found["sandbox"], found["token"], (path or b"/") + query, "", port, host)
        if label is not None and (found := _TUNNEL_LABEL.fullmatch(label)):
            return PreviewTarget("", found["name"], (path or b"/") + query, "", None, host, tunnel=True)
        if match := _TUNNEL_PATH.fullmatch(path):
            name = match["name"].decode()
            return PreviewTarget("", name, (match["rest"] or b"") + query, f"/t/{name}", None, host, tunnel=True)
        if (match := _PATH.fullmatch(path)) is None:
            return None
        sandbox, token = match["sandbox"].decode(), match["token"].decode()
        rest = match["rest"] or b""
        return PreviewTarget(sandbox, token, rest + query, f"{PREFIX}{sandbox}/{token}", None, host)

    def _label(self, host: str) -> str | None:
        if self._suffix is None:
            return None
        try:
            name, _ = split_host(host, "http")
        except ValueError:
            return None
        label = name.removesuffix(self._suffix)
        return label if label != name and len(label) <= 63 else None


def _host(headers: Headers) -> str:
    try:
        return header(headers, b"host") or ""
    except ValueError:
        return ""
