"""Parses host names and origins in headers and settings."""

import ipaddress
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def split_host(authority: str, scheme: str) -> tuple[str, int]:
    """Parse `name[:port]`. Return the name in lower case and the port, whose default depends on `scheme`.

    Raises:
        ValueError: `authority` is not a host.
    """
    parts = urlsplit(f"//{authority}")
    if not parts.hostname or parts.path or parts.query or parts.fragment or "@" in authority:
        raise ValueError(f"not a host: {authority!r}")
    return parts.hostname, parts.port or _PORTS[scheme]


def split_origin(origin: str) -> tuple[str, str, int]:
    """Return an origin's scheme, name and port. Raises `ValueError` for any other value, such as `null`."""
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
