"""The two halves of a browser's session: a cookie, and a key that the page sends in a header. No I/O.

Browsers send a cookie to every port of a host, and so to programs in sandboxes that are reached at another port; any
of these may also set cookies of this host. The key is in the storage of the page's origin, which contains the port. A
session counts only with both halves (docs/decisions/0280).

A browser can have several sessions at one gateway, for example with the owner's token and with a share link. Each has
its own cookie, whose name ends with the id of the session. The header `Hawse-Session` contains `ID.KEY`.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final
from urllib.parse import urlsplit

HEADER: Final = b"hawse-session"
SESSIONS_IN_BROWSER: Final = 16  # cookies of one gateway: all are sent with each request, whose headers have a limit
_NAMED: Final = re.compile(r"([0-9a-f]{16})\.([A-Za-z0-9_-]{43})")
_PORTS: Final = {False: 80, True: 443}

Headers = Iterable[tuple[bytes, bytes]]


def halves(secret: str) -> tuple[str, str]:
    """Return the cookie and the key that the secret of a session consists of."""
    cookie, _, key = secret.partition(".")
    return cookie, key


def presented(headers: Headers, scheme: str) -> dict[str, list[str]]:
    """Return the secrets that a request may have for each session that its header names, by the id of the session.

    A cookie may occur more than once: another program at this host can set one with the same name and a longer path.

    Args:
        headers: The headers of the request.
        scheme: The scheme of the request, such as `http`.
    """
    found = sessions(headers, scheme)
    return {name: [f"{cookie}.{key}" for cookie in found.get(name, ())] for name, key in _named(headers).items()}


def sessions(headers: Headers, scheme: str) -> dict[str, list[str]]:
    """Return the values of a request's session cookies by the id of the session, in the order of their arrival.

    Args:
        headers: The headers of the request.
        scheme: The scheme of the request, such as `http`.
    """
    prefix = _prefix(headers, scheme)
    found: dict[str, list[str]] = {}
    for name, cookie in pairs(headers):
        if name.startswith(prefix):
            found.setdefault(name[len(prefix) :], []).append(cookie)
    return found


def pairs(headers: Headers) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each cookie of a request. A name may occur more than once."""
    for key, value in headers:
        if key == b"cookie":
            for part in value.decode("latin-1").split(";"):
                name, _, cookie = part.strip().partition("=")
                yield name, cookie


def set_cookie(headers: Headers, scheme: str, name: str, cookie: str, lifetime: float) -> str:
    """Return the value of `Set-Cookie` that lets a browser keep the cookie of a session.

    Args:
        headers: The headers of the request that is answered.
        scheme: Its scheme.
        name: The id of the session.
        cookie: The first half of its secret. Empty with a lifetime of 0: the cookie is deleted.
        lifetime: Seconds until the browser deletes the cookie.
    """
    secure = "; Secure" if _secure(scheme) else ""
    attributes = f"Path=/; Max-Age={max(0, int(lifetime))}; HttpOnly; SameSite=Strict{secure}"
    return f"{_prefix(headers, scheme)}{name}={cookie}; {attributes}"


def keep_session(headers: Headers, scheme: str, name: str, cookie: str, lifetime: float) -> list[str]:
    """Return the values of `Set-Cookie` of the answer that starts a session: its cookie, and the end of surplus ones.

    Args:
        headers: The headers of the request that is answered.
        scheme: Its scheme.
        name: The id of the session.
        cookie: The first half of its secret.
        lifetime: Seconds until the browser deletes the cookie.
    """
    other = surplus(sessions(headers, scheme), name, _named(headers))
    deleted = [set_cookie(headers, scheme, one, "", 0.0) for one in other]
    return [*deleted, set_cookie(headers, scheme, name, cookie, lifetime)]


def surplus(found: Iterable[str], name: str, used: Collection[str] = ()) -> list[str]:
    """Return the ids of sessions whose cookies are deleted when another session starts, so that a bound is kept.

    Args:
        found: The ids of the sessions in the browser, in the order in which it sent them: the oldest first (RFC 6265).
        name: The id of the new session.
        used: The ids of those that the page has the key of. The others go first: the page cannot use them.
    """
    others = sorted((one for one in found if one != name), key=lambda one: one in used)
    return others[: max(0, len(others) + 1 - SESSIONS_IN_BROWSER)]


def _named(headers: Headers) -> dict[str, str]:
    """Return the keys of the sessions that a request names in its header, by the id of the session."""
    given = ",".join(value.decode("latin-1") for key, value in headers if key == HEADER).split(",")
    matches = (_NAMED.fullmatch(one.strip()) for one in given[:SESSIONS_IN_BROWSER])
    return {match[1]: match[2] for match in matches if match}


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
