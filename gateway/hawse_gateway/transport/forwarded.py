"""Reads the `Forwarded` header from trusted proxies (RFC 7239) instead of X-Forwarded-For and X-Forwarded-Proto.

Only `Forwarded` is read, because a proxy that sets one form passes on the client's value of the other form
(docs/decisions/0121).
"""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

SCHEMES: Final = {"http": "ws", "https": "wss"}  # WebSocket schemes, keyed by HTTP scheme
_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # RFC 9110, section 5.6.2
_PAIR: Final = re.compile(rf'({_TOKEN})=(?:({_TOKEN})|"((?:[^"\\]|\\.)*)")')
_NODE: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([^:\[\]]+))(?::([0-9]{1,5}|[._A-Za-z0-9-]+))?")


class ForwardedHeader:
    """ASGI middleware that sets the scheme and client address for requests from trusted proxies."""

    def __init__(self, app: Any, proxies: Sequence[str]) -> None:
        """Wrap an ASGI application.

        Args:
            app: The application to wrap.
            proxies: The IP addresses and networks of trusted proxies.
        """
        self._app = app
        self._trusted = [ipaddress.ip_network(proxy) for proxy in proxies]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan" and scope.get("client") and self._trusts(scope["client"][0]):
            values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"forwarded"]
            found = self._nearest(parse_forwarded(", ".join(values)) or [])
            if found is not None:
                scope = {**scope, **_described(found, scope)}
        await self._app(scope, receive, send)

    def _nearest(self, elements: Sequence[Mapping[str, str]]) -> Mapping[str, str] | None:
        """Return the element added by the farthest trusted proxy. The client could have forged the elements before
        it."""
        found = None
        for element in reversed(elements):
            found = element
            host, _ = parse_node(element.get("for", ""))
            if not self._trusts(host):
                break
        return found

    def _trusts(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self._trusted)


def parse_forwarded(value: str) -> list[Mapping[str, str]] | None:
    """Return the elements in a `Forwarded` header, farthest proxy first, or None if the header is invalid."""
    elements: list[Mapping[str, str]] = []
    element: dict[str, str] = {}
    at = 0
    while at < len(value):
        if value[at] in " \t;":
            at += 1
        elif value[at] == ",":
            elements.append(element)
            element, at = {}, at + 1
        else:
            pair = _PAIR.match(value, at)
            if pair is None or pair[1].lower() in element:
                return None
            quoted = pair[3]
            element[pair[1].lower()] = pair[2] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            at = pair.end()
            if at < len(value) and value[at] not in " \t;,":
                return None
    elements.append(element)
    return [one for one in elements if one]


def parse_node(text: str) -> tuple[str, int]:
    """Return a node's host and port (RFC 7239, section 6). The port is 0 if it is missing or hidden. The host is "" if
    it is missing."""
    found = _NODE.fullmatch(text)
    if found is None:
        return "", 0
    port = found[3] or ""
    return found[1] or found[2], int(port) if port.isdecimal() and int(port) < 65_536 else 0


def _described(element: Mapping[str, str], scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ASGI scope entries to replace, based on one element of the header."""
    parts: dict[str, Any] = {}
    scheme = element.get("proto", "").lower()
    if scheme in SCHEMES:
        parts["scheme"] = SCHEMES[scheme] if scope["type"] == "websocket" else scheme
    host, port = parse_node(element.get("for", ""))
    if host:
        parts["client"] = (host, port)
    return parts
