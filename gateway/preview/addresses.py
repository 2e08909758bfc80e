"""The addresses of previews (docs/decisions/0038). No I/O.

http://{port}-{sandbox}-{token}.{preview host}/…    an origin of its own
http://gateway/p/{sandbox}/{token}/…                on the gateway's origin, so its pages get a sandbox
"""

import re
from typing import Any, Final, NamedTuple

from gateway.auth.access_policy import Headers, header, split_host

PREFIX: Final = "/p/"
_PATH = re.compile(
    rb"/p/(?P<sandbox>[A-Za-z0-9][A-Za-z0-9_.-]{0,63})/(?P<token>[a-z0-9]{1,64})(?P<rest>/.*)?", re.DOTALL
)
_LABEL = re.compile(r"(?P<port>[1-9][0-9]{0,4})-(?P<sandbox>[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)-(?P<token>[a-z0-9]{8,})")


class PreviewTarget(NamedTuple):
    """The preview that a request is for."""

    sandbox: str
    token: str
    path: bytes  # with the query, as the program sees them
    prefix: str  # of the path, removed for the program; empty for a preview by host name
    port: int | None  # from the host name; None for a preview by path
    host: str  # as the browser sent it, with its port

    @property
    def by_path(self) -> bool:
        return bool(self.prefix)


class PreviewAddresses:
    """Distinguishes requests for previews from others.

    Args:
        host: The parent domain of the previews' host names; None: previews are by path only.
    """

    def __init__(self, host: str | None) -> None:
        self._suffix = f".{host.lower()}" if host else None

    def find(self, scope: Any) -> PreviewTarget | None:
        """Return the preview that an HTTP or WebSocket request is for, None if it is for the gateway itself."""
        host = _host(scope["headers"])
        query = b"?" + scope["query_string"] if scope["query_string"] else b""
        path = scope.get("raw_path") or scope["path"].encode()
        label = self._label(host)
        if label is not None and (found := _LABEL.fullmatch(label)):
            port = int(found["port"])
            return PreviewTarget(found["sandbox"], found["token"], (path or b"/") + query, "", port, host)
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
