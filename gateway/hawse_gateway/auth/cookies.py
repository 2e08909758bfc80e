"""The two halves of a browser's session: a cookie, and a key that the page sends in a header. No I/O.

Browsers send a cookie to every port of a host, including ports forwarded to programs in sandboxes. These programs can
also set cookies for the host. The key is kept in the storage of the page's origin, which includes the port. A session
is only valid with both halves (docs/decisions/0280).

A browser can have several sessions at one gateway, for example one for the owner's token and one for a share link. Each
session has its own cookie, whose name ends with the session's id. The `Hawse-Session` header contains `ID.KEY`.

In a frame of a page from another site, browsers accept only partitioned cookies, which they keep separately for each
embedding site. The page asks for one with the `Hawse-Framed` header (docs/decisions/0370).
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final
from urllib.parse import urlsplit

HEADER: Final = b"hawse-session"
SESSIONS_IN_BROWSER: Final = 16  # maximum session cookies per gateway; browsers send all of them with each request
_NAMED: Final = re.compile(r"([0-9a-f]{16})\.([A-Za-z0-9_-]{43})")
_PORTS: Final = {False: 80, True: 443}
FRAMED: Final = b"hawse-framed"

Headers = Iterable[tuple[bytes, bytes]]


def halves(secret: str) -> tuple[str, str]:
    """Split a session's secret into its cookie and its key."""
    cookie, _, key = secret.partition(".")
    return cookie, key


def presented(headers: Headers, scheme: str) -> dict[str, list[str]]:
    """Return the possible secrets of each session named in a request's header, keyed by session id.

    A cookie can occur more than once, because another program on this host can set a cookie with the same name and a
    longer path.

    Args:
        headers: The request's headers.
        scheme: The request's scheme, such as `http`.
    """
    found = sessions(headers, scheme)
    return {name: [f"{cookie}.{key}" for cookie in found.get(name, ())] for name, key in _named(headers).items()}


def sessions(headers: Headers, scheme: str) -> dict[str, list[str]]:
    """Return the values of a request's session cookies in the order received, keyed by session id.

    Args:
        headers: The request's headers.
        scheme: The request's scheme, such as `http`.
    """
    prefix = _prefix(headers, scheme)
    found: dict[str, list[str]] = {}
    for name, cookie in pairs(headers):
        if name.startswith(prefix):
            found.setdefault(name[len(prefix) :], []).append(cookie)
    return found


def pairs(headers: Headers) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each cookie in a request. A name can occur more than once."""
    for key, value in headers:
        if key == b"cookie":
            for part in value.decode("latin-1").split(";"):
                name, _, cookie = part.strip().partition("=")
                yield name, cookie


def set_cookie(headers: Headers, scheme: str, name: str, cookie: str, lifetime: float) -> str:
    """Return a `Set-Cookie` value that stores a session's cookie in the browser.

    With the `Hawse-Framed` header, the cookie is partitioned (CHIPS) and `Secure`, regardless of the scheme. Browsers
    regard loopback addresses as secure, and the page sends the header only in a secure context.

    Args:
        headers: The request's headers.
        scheme: The request's scheme.
        name: The id of the session.
        cookie: The first half of the session's secret. An empty value with a lifetime of 0 deletes the cookie.
        lifetime: Seconds until the browser deletes the cookie.
    """
    if any(key == FRAMED for key, _ in headers):
        site = "SameSite=None; Secure; Partitioned"
    else:
        site = f"SameSite=Strict{'; Secure' if _secure(scheme) else ''}"
    attributes = f"Path=/; Max-Age={max(0, int(lifetime))}; HttpOnly; {site}"
    return f"{_prefix(headers, scheme)}{name}={cookie}; {attributes}"


def keep_session(headers: Headers, scheme: str, name: str, cookie: str, lifetime: float) -> list[str]:
    """Return the `Set-Cookie` values that start a session: they set its cookie and delete surplus cookies.

    Args:
        headers: The request's headers.
        scheme: The request's scheme.
        name: The id of the session.
        cookie: The first half of the session's secret.
        lifetime: Seconds until the browser deletes the cookie.
    """
    other = surplus(sessions(headers, scheme), name, _named(headers))
    deleted = [set_cookie(headers, scheme, one, "", 0.0) for one in other]
    return [*deleted, set_cookie(headers, scheme, name, cookie, lifetime)]


def surplus(found: Iterable[str], name: str, used: Collection[str] = ()) -> list[str]:
    """Return the ids of the sessions whose cookies must be deleted before another session can be started.

    Args:
        found: The ids of the browser's sessions in the order of its cookies, oldest first (RFC 6265).
        name: The id of the new session.
        used: The ids of the sessions whose keys the page has. Other sessions are deleted first, since the page can't
            use them.
    """
    others = sorted((one for one in found if one != name), key=lambda one: one in used)
    return others[: max(0, len(others) + 1 - SESSIONS_IN_BROWSER)]


def _named(headers: Headers) -> dict[str, str]:
    """Return the session keys in a request's header, keyed by session id."""
    given = ",".join(value.decode("latin-1") for key, value in headers if key == HEADER).split(",")
    matches = (_NAMED.fullmatch(one.strip()) for one in given[:SESSIONS_IN_BROWSER])
    return {match[1]: match[2] for match in matches if match}


def _secure(scheme: str) -> bool:
    return scheme in ("https", "wss")


def _prefix(headers: Headers, scheme: str) -> str:
    """Return the cookie name prefix. It contains the port because browsers send cookies to all ports of a host."""
    secure = _secure(scheme)
    host = next((value.decode("latin-1") for key, value in headers if key == b"host"), "")
    try:
        port = urlsplit(f"//{host}").port or _PORTS[secure]
    except ValueError:
        port = _PORTS[secure]
    # With `__Host-`, browsers only accept the cookie from this host itself, over HTTPS (RFC 6265bis, section 4.1.3.2).
    return f"{'__Host-' if secure else ''}hawse-{port}-"
