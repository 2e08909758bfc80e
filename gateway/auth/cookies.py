"""The cookies of browser sessions: their names, and the headers that set and delete them. No I/O.

A browser can have several sessions at one gateway, for example with the owner's token and with a share link. Each has a
cookie of its own, whose name ends with the id of the session in this browser. The header `Hawse-Session` contains that
id, which is not secret.
"""

import hashlib
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

HEADER: Final = b"hawse-session"
SESSIONS_IN_BROWSER: Final = 16  # cookies of one gateway: all are sent with each request, whose headers have a limit
_PORTS: Final = {False: 80, True: 443}

Headers = Iterable[tuple[bytes, bytes]]


def session_name(root: str) -> str:
    """Return the id that a session has in its browser: the same for each sign-in with the same credential.

    Args:
        root: The id of the token or link that the session belongs to.
    """
    return hashlib.sha256(f"session of {root}".encode()).hexdigest()[:16]


def sessions(headers: Headers, scheme: str) -> dict[str, str]:
    """Return the secrets of a request's session cookies by the id of the session. One that occurs twice is ignored.

    Args:
        headers: The headers of the request.
        scheme: The scheme of the request, such as `http` or `wss`.
    """
    prefix = _prefix(headers, scheme)
    found: dict[str, list[str]] = {}
    for key, value in headers:
        if key == b"cookie":
            for part in value.decode("latin-1").split(";"):
                name, _, secret = part.strip().partition("=")
                if name.startswith(prefix):
                    found.setdefault(name[len(prefix) :], []).append(secret)
    return {name: secrets[0] for name, secrets in found.items() if len(secrets) == 1}


def chosen(headers: Headers) -> str | None:
    """Return the id of the session that a request names; None if it names none."""
    values = [value for key, value in headers if key == HEADER]
    return values[0].decode("latin-1").strip() if len(values) == 1 else None


def set_cookie(headers: Headers, scheme: str, name: str, secret: str, lifetime: float) -> str:
    """Return the value of `Set-Cookie` that lets a browser keep the secret of a session.

    Args:
        headers: The headers of the request that is answered.
        scheme: Its scheme.
        name: The id of the session in the browser.
        secret: Its secret. Empty with a lifetime of 0: the cookie is deleted.
        lifetime: Seconds until the browser deletes the cookie.
    """
    secure = "; Secure" if _secure(scheme) else ""
    attributes = f"Path=/; Max-Age={max(0, int(lifetime))}; HttpOnly; SameSite=Strict{secure}"
    return f"{_prefix(headers, scheme)}{name}={secret}; {attributes}"


def keep_session(headers: Headers, scheme: str, name: str, secret: str, lifetime: float) -> list[str]:
    """Return the values of `Set-Cookie` of the answer that begins a session: its cookie, and the end of surplus ones.

    Args:
        headers: The headers of the request that is answered.
        scheme: Its scheme.
        name: The id of the session in the browser.
        secret: Its secret.
        lifetime: Seconds until the browser deletes the cookie.
    """
    deleted = [set_cookie(headers, scheme, other, "", 0.0) for other in surplus(sessions(headers, scheme), name)]
    return [*deleted, set_cookie(headers, scheme, name, secret, lifetime)]


def surplus(found: Iterable[str], name: str) -> list[str]:
    """Return the ids of sessions whose cookies are deleted when another session begins, so that a bound is kept.

    Args:
        found: The ids of the sessions in the browser, in the order in which it sent them: the oldest first (RFC 6265).
        name: The id of the new session.
    """
    others = [one for one in found if one != name]
    return others[: max(0, len(others) + 1 - SESSIONS_IN_BROWSER)]


def _secure(scheme: str) -> bool:
    return scheme in ("https", "wss")


def _prefix(headers: Headers, scheme: str) -> str:
    """Browsers send a cookie to all ports of a host, so its name contains the port."""
    secure = _secure(scheme)
    host = next((value.decode("latin-1") for key, value in headers if key == b"host"), "")
    try:
        port = urlsplit(f"//{host}").port or _PORTS[secure]
    except ValueError:
        port = _PORTS[secure]
    # With `__Host-`, browsers accept the cookie only from this host itself, over HTTPS (RFC 6265bis, 4.1.3.2).
    return f"{'__Host-' if secure else ''}hawse-{port}-"
