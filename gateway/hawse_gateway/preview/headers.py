"""Translates request and response headers between a browser and a previewed program. No I/O.

The program sees requests to `http://localhost:PORT`, as development servers expect. `Host`, `Origin` and `Referer`
contain this local origin, and the X-Forwarded-* headers contain the public address. A path-based preview shares the
gateway's origin. The pages of such a preview are therefore sandboxed, with an opaque origin that can't read the
gateway's storage, and its cookies get a name prefix.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.preview.addresses import PreviewTarget

Pairs = list[tuple[bytes, bytes]]

HOP: Final = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding "
    b"upgrade".split()
)
# Request headers to drop: framing headers, and headers that only a proxy may set.
PROXY_ONLY: Final = frozenset(b"host expect forwarded x-real-ip".split())
# Response headers to drop because they would affect the whole host or other previews. Clear-Site-Data removes
# the cookies of the registrable domain, which all previews share.
REFUSED: Final = frozenset(b"date alt-svc strict-transport-security set-cookie2 nel report-to clear-site-data".split())
# Additional response headers to drop for previews on the gateway's origin.
REFUSED_BY_PATH: Final = frozenset([b"service-worker-allowed"])
SANDBOX: Final = b"sandbox allow-scripts allow-forms allow-modals allow-popups allow-downloads allow-pointer-lock"
# Without these headers, browsers can cache a file for a tenth of its age (RFC 9111, section 4.2.2), which is too long
# for previewed files, because they change often.
CACHING: Final = frozenset(b"cache-control expires pragma".split())
STATUS_MAX: Final = 599  # highest valid response status (RFC 9110, section 15)
OPAQUE_ORIGIN: Final = b"null"  # the `Origin` header sent by a sandboxed page (Fetch standard, section 3.2)
_LOCAL = re.compile(
    r"https?://(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?::([0-9]{1,5}))?(?=[/?#]|$)", re.IGNORECASE
)


class PublicAddress(NamedTuple):
    """The connection that carried a request, and the target port."""

    port: int
    scheme: str  # http or https
    client: str  # the client's IP address; empty if unknown


def upstream_host(port: int) -> bytes:
    return b"localhost:%d" % port


def request_headers(
    given: Iterable[tuple[bytes, bytes]], target: PreviewTarget, public: PublicAddress, access_policy: AccessPolicy
) -> Pairs:
    """Translate the headers of a request sent by a browser.

    Args:
        given: The request headers, with lowercase names.
        target: The preview or tunnel.
        public: The connection that carried the request.
        access_policy: Recognizes the gateway's own tokens, which must not reach the program.

    Returns:
        The headers for the program. The caller adds `transfer-encoding` for a chunked body.
    """
    given = list(given)
    dropped = HOP | PROXY_ONLY | _named(given)
    result: Pairs = [(b"host", upstream_host(public.port))]
    for name, value in given:
        # Programs that use WSGI or CGI can't distinguish X_Forwarded_For from X-Forwarded-For, so both are dropped.
        hyphenated = name.replace(b"_", b"-")
        if hyphenated in dropped or hyphenated.startswith(b"x-forwarded-"):
            continue
        if name == b"authorization" and access_policy.bearer([(name, value)]) is not None:
            continue  # the program must not see the gateway's token
        if name == b"origin" and value == OPAQUE_ORIGIN and _is_own_sandbox(target):
            # Only the preview's own sandboxed page knows the preview's token, so the request must come from this page.
            # Browsers also don't send the preview's same-site cookies with requests from other sandboxed pages.
            value = _own_origin(public)
        elif name in (b"origin", b"referer"):
            value = _as_the_program_sees_it(value, target, public)
        if name == b"cookie" and target.by_path:
            value = _own_cookies(value, target)
            if not value:
                continue
        result.append((name, value))
    result.append((b"x-forwarded-host", target.host.encode("latin-1")))
    result.append((b"x-forwarded-proto", public.scheme.encode()))
    if public.client:
        result.append((b"x-forwarded-for", public.client.encode()))
    if target.prefix:
        result.append((b"x-forwarded-prefix", target.prefix.encode()))
    return result


def response_headers(given: Iterable[tuple[bytes, bytes]], target: PreviewTarget, public: PublicAddress) -> Pairs:
    """Translate a program's response headers for the browser."""
    given = [(name.lower(), value) for name, value in given]
    dropped = HOP | REFUSED | _named(given) | (REFUSED_BY_PATH if target.by_path else frozenset())
    if any(name == b"transfer-encoding" for name, _ in given):
        dropped |= {b"content-length"}  # transfer-encoding overrides content-length (RFC 9112, section 6.3)
    result: Pairs = []
    for name, value in given:
        if name in dropped or name == b"referrer-policy":
            continue
        if name in (b"location", b"content-location"):
            value = _location(value, target, public)
        elif name == b"set-cookie":
            value = _cookie(value, target)
        elif name == b"access-control-allow-origin" and _is_own_sandbox(target) and value == _own_origin(public):
            value = OPAQUE_ORIGIN  # the request's origin was replaced as well (`request_headers`)
        result.append((name, value))
    # The address contains the preview's token, so it must not be sent to other sites in `Referer`.
    result.append((b"referrer-policy", b"same-origin"))
    if not any(name in CACHING for name, _ in result):
        result.append((b"cache-control", b"no-cache"))  # makes the browser revalidate its cached copy
    if target.by_path:
        result.append((b"content-security-policy", SANDBOX))
        if _is_own_sandbox(target) and not any(name == b"access-control-allow-origin" for name, _ in result):
            result.append((b"access-control-allow-origin", b"*"))  # requests from a sandboxed page are cross-origin
    return result


def preflight_response(given: Iterable[tuple[bytes, bytes]], target: PreviewTarget, method: str) -> Pairs | None:
    """Return the response headers for a CORS preflight from a page in a path-based preview, or None for other requests.

    Requests from a sandboxed page are cross-origin even if they are sent to the page's own program, but programs don't
    expect preflights from their own pages.

    Args:
        given: The request headers, with lowercase names.
        target: The preview or tunnel.
        method: The request method.
    """
    headers = dict(given)
    wanted = headers.get(b"access-control-request-method")
    if method != "OPTIONS" or not _is_own_sandbox(target) or headers.get(b"origin") != OPAQUE_ORIGIN or wanted is None:
        return None
    result = [(b"access-control-allow-origin", OPAQUE_ORIGIN), (b"access-control-allow-methods", wanted)]
    if names := headers.get(b"access-control-request-headers"):
        result.append((b"access-control-allow-headers", names))
    return result


def _as_the_program_sees_it(value: bytes, target: PreviewTarget, public: PublicAddress) -> bytes:
    """Replace the preview's origin with the program's, so that it matches `Host`. Servers compare `Origin` with `Host`
    to prevent CSRF.

    The scheme is ignored: behind a proxy that terminates TLS, the browser uses https and the gateway http.
    """
    scheme, separator, rest = value.partition(b"://")
    authority, slash, path = rest.partition(b"/")
    own = target.host.lower().encode("latin-1")
    if not separator or scheme.lower() not in (b"http", b"https") or authority.lower() != own:
        return value
    prefix = target.prefix.encode()
    if prefix and f"/{path.decode('latin-1')}".startswith(f"{target.prefix}/"):
        path = path[len(prefix) :]
    return _own_origin(public) + slash + path


def _is_own_sandbox(target: PreviewTarget) -> bool:
    """Return whether a request with an opaque origin must come from the target's own page, because only this page knows
    the preview's token.

    This does not hold for a tunnel: the tunnel's name can be guessed, so any site could send requests to the tunnel
    from a sandboxed page.
    """
    return target.by_path and not target.tunnel


def _own_origin(public: PublicAddress) -> bytes:
    """Return the origin that the program sees as its own."""
    return b"http://" + upstream_host(public.port)


def _named(pairs: Pairs) -> frozenset[bytes]:
    """Return the names of the headers listed in `Connection`, which are hop-by-hop headers (RFC 9110, section
    7.6.1)."""
    values = b",".join(value for name, value in pairs if name.lower() == b"connection")
    return frozenset(token.strip().lower() for token in values.split(b",")) - {b"host", b"content-length"}


def _location(value: bytes, target: PreviewTarget, public: PublicAddress) -> bytes:
    """Translate a program's redirect target for the browser, relative to the preview's origin and prefix."""
    text = value.decode("latin-1")
    local = _LOCAL.match(text)
    own = f"{public.scheme}://{target.host}"
    if local is not None and int(local[1] or 80) == public.port:
        text = text[local.end() :] or "/"
    elif text == own or text.startswith((f"{own}/", f"{own}?")):
        text = text[len(own) :] or "/"
        if target.prefix and text.startswith(f"{target.prefix}/"):
            return text.encode("latin-1")
    elif text.startswith("//") or not text.startswith("/"):
        return value
    if not text.startswith("/"):
        text = f"/{text}"
    return f"{target.prefix}{text}".encode("latin-1")


def _cookie(value: bytes, target: PreviewTarget) -> bytes:
    """Restrict a cookie to this preview: remove `Domain` and, for path-based previews, prepend the prefix to its
    path."""
    first, *attributes = [part.strip() for part in value.split(b";")]
    kept = [part for part in attributes if part.partition(b"=")[0].strip().lower() != b"domain"]
    if target.by_path:
        path = next((part.partition(b"=")[2].strip() for part in kept if _is_path(part)), b"")
        kept = [part for part in kept if not _is_path(part)]
        kept.append(b"Path=" + target.prefix.encode() + (path if path.startswith(b"/") else b"/"))
        first = _mark(target) + first
    return b"; ".join([first, *kept])


def _own_cookies(value: bytes, target: PreviewTarget) -> bytes:
    mark = _mark(target)
    return b"; ".join(_unmarked(value, mark))


def _unmarked(value: bytes, mark: bytes) -> Iterator[bytes]:
    for pair in value.split(b";"):
        pair = pair.strip()
        if pair.startswith(mark):
            yield pair[len(mark) :]


def _mark(target: PreviewTarget) -> bytes:
    return target.mark.encode()


def _is_path(part: bytes) -> bool:
    return part.partition(b"=")[0].strip().lower() == b"path"
