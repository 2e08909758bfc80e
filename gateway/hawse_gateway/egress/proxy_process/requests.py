"""Checks programs' requests, and builds the requests and responses to forward. No I/O.

Requests are parsed and reserialized, so that the server receives exactly the request that was checked.
"""

import json
import re
from dataclasses import dataclass
from typing import Final, NamedTuple

import h11

from hawse_gateway.egress.addresses import normalized
from hawse_gateway.egress.proxy_process.websocket import UPGRADE, WEBSOCKET, handshake_key
from hawse_gateway.egress.refusals import RefusedError
from hawse_gateway.egress.rules import METHOD
from hawse_gateway.egress.secrets import Headers, dashed

STATUS: Final = {
    "rule": 403,
    "method": 403,
    "address": 403,
    "name": 502,
    "mismatch": 421,
    "protocol": 400,
    "upgrade": 400,
}
BAD_GATEWAY: Final = 502
PARTIAL_CONTENT: Final = 206
IM_USED: Final = 226
# Hop-by-hop headers (RFC 9110, section 7.6.1). Headers named in `Connection` are hop-by-hop as well.
HOP: Final = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding "
    b"upgrade http2-settings alt-svc".split()
)

_METHOD: Final = re.compile(METHOD)
# Headers that make servers use a different method and would thus bypass the rules.
OVERRIDES: Final = frozenset((b"x-http-method-override", b"x-http-method", b"x-method-override"))


class Origin(NamedTuple):
    """The target of a request.

    Attributes:
        host: The host, as returned by `normalized`.
        port: The port.
        tls: Whether the connection uses TLS.
    """

    host: str
    port: int
    tls: bool

    @property
    def authority(self) -> bytes:
        """The `Host` header value."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return (name if self.port == (443 if self.tls else 80) else f"{name}:{self.port}").encode()


@dataclass(frozen=True)
class CheckedRequest:
    """A valid request.

    Attributes:
        origin: The target server.
        method: The method.
        target: The path and the query.
        headers: The headers, with lower-case names and without hop-by-hop headers. `host` is the first one.
        websocket: The key of a WebSocket handshake, whose `method` is `WEBSOCKET`. None if the request is not a
            handshake.
    """

    origin: Origin
    method: str
    target: bytes
    headers: Headers
    websocket: bytes | None = None


def tunnel_origin(request: h11.Request) -> Origin:
    """Return the target of a CONNECT request. Raises `RefusedError`."""
    host, port = _authority(bytes(request.target), None)
    return Origin(host, port, tls=True)


def check_request(request: h11.Request, tunnel: Origin | None) -> CheckedRequest:
    """Check a request.

    Args:
        request: The request.
        tunnel: The target of the connection's tunnel. None if the request itself must contain its target.

    Raises:
        RefusedError: The request is inconsistent, doesn't match the tunnel, or isn't one that a proxy can handle.
    """
    target, method = bytes(request.target), request.method.decode("ascii")
    fields = [(bytes(name), bytes(value)) for name, value in request.headers]
    if _METHOD.fullmatch(method) is None or method == WEBSOCKET:  # in rules, WEBSOCKET stands for handshakes
        raise RefusedError("method", f"{method[:32]!r} is not a method of upper-case letters, such as GET")
    if tunnel is None:
        if not target[:7].lower() == b"http://":
            raise RefusedError("protocol", "a request to a proxy has a target such as http://HOST/PATH")
        authority, slash, path = target[7:].partition(b"/")
        if b"?" in authority or b"#" in authority:
            raise RefusedError("protocol", "the target has no path")
        origin, target = Origin(*_authority(authority, 80), tls=False), slash + path or b"/"
    else:
        origin = tunnel
        if not (target.startswith(b"/") or (target == b"*" and method == "OPTIONS")):
            raise RefusedError("protocol", "a request in a tunnel has a target such as /PATH")
    if b"#" in target or any(byte <= 0x20 or byte >= 0x7F for byte in target):
        raise RefusedError("protocol", "the target has a character that is not allowed")
    hosts = [value for name, value in fields if name == b"host"]
    if len(hosts) > 1 or (hosts and _authority(hosts[0], 443 if origin.tls else 80) != origin[:2]):
        raise RefusedError("mismatch", f"Host must be {origin.authority.decode()}")
    named = [name for name, _ in fields]
    if named.count(b"content-length") > 1 or (b"content-length" in named and b"transfer-encoding" in named):
        raise RefusedError("protocol", "the request has more than one length")
    for name, value in fields:
        if dashed(name) in OVERRIDES and value.strip().upper() != method.encode():
            raise RefusedError("method", f"{name.decode()} must not override the method: the rules only check {method}")
    if any(name == b"upgrade" and b"websocket" in value.lower() for name, value in fields):
        try:
            key = handshake_key(fields, method)
        except ValueError as error:
            raise RefusedError("upgrade", f"not a WebSocket handshake: {error}") from None
        kept = [(name, value) for name, value in _end_to_end(fields) if name not in (b"host", b"expect")]
        return CheckedRequest(origin, WEBSOCKET, target, [(b"host", origin.authority), *kept, *UPGRADE], key)
    chunked = b"transfer-encoding" in named
    kept = [(name, value) for name, value in _end_to_end(fields) if name not in (b"host", b"expect")]
    framing = [(b"transfer-encoding", b"chunked")] if chunked else []
    return CheckedRequest(
        origin, method, target, [(b"host", origin.authority), *kept, *framing, (b"connection", b"close")]
    )


def answer_headers(response: h11.Response | h11.InformationalResponse) -> Headers:
    """Return a response's headers without hop-by-hop headers."""
    return _end_to_end([(bytes(name), bytes(value)) for name, value in response.headers])


def is_encoded(headers: Headers) -> bool:
    """Return whether a response's content or a WebSocket's messages are compressed or otherwise encoded."""
    return any(
        (name == b"content-encoding" and value.strip().lower() not in (b"", b"identity"))
        or name == b"sec-websocket-extensions"
        for name, value in headers
    )


def is_piece(response: h11.Response) -> bool:
    """Return whether a response contains only part of a resource, or a delta (RFC 3229)."""
    return response.status_code in (PARTIAL_CONTENT, IM_USED)


def error_body(code: str, reason: str, message: str) -> bytes:
    """Return the body for an error response from the proxy."""
    return json.dumps({"error": {"code": code, "reason": reason, "message": message}}).encode() + b"\n"


def _authority(text: bytes, default: int | None) -> tuple[str, int]:
    """Parse `HOST[:PORT]`. Raises `RefusedError`."""
    try:
        place = text.decode("ascii")
        host, port = place, ""
        if not place.endswith("]") and ":" in place:
            host, _, port = place.rpartition(":")
        if ":" in host and not host.startswith("["):
            raise ValueError("IPv6 without brackets")
        if not port and default is None:
            raise ValueError("without a port")
        if port and not (port.isdigit() and len(port) <= 5 and 0 < int(port) < 65_536):
            raise ValueError("not a port")
        if "%" in host:
            raise ValueError("a zone")
        return normalized(host), int(port) if port else default or 0
    except ValueError:
        raise RefusedError("name", f"{text[:80]!r} is not HOST:PORT, with a name or a canonical address") from None


def _end_to_end(fields: Headers) -> Headers:
    named = {
        option.strip().lower() for name, value in fields if name == b"connection" for option in value.split(b",")
    } - {b"content-length", b"host"}
    return [(name, value) for name, value in fields if name not in HOP and name not in named]
