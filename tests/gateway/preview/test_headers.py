"""The headers that pass in each direction."""

import pytest

from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.tickets import Tickets
from hawse_gateway.preview.addresses import PreviewTarget
from hawse_gateway.preview.headers import (
    SANDBOX,
    Pairs,
    PublicAddress,
    preflight_response,
    request_headers,
    response_headers,
)
from tests.support.stores import credentials

TOKEN = "abcdefghijklmnopqrstuvwxyz0123ef"
BY_PATH = PreviewTarget("box", TOKEN, b"/", f"/p/box/{TOKEN}", None, "gw:8080")
BY_NAME = PreviewTarget("box", TOKEN, b"/", "", 5173, f"5173-box-{TOKEN}.localhost:8080")
PUBLIC = PublicAddress(5173, "http", "192.0.2.1")
ACCESS_POLICY = AccessPolicy(credentials("the owner's token"), Tickets(lambda: 0.0))


def asked(*given: tuple[bytes, bytes], target: PreviewTarget = BY_NAME) -> Pairs:
    return request_headers(given, target, PUBLIC, ACCESS_POLICY)


def answered(*given: tuple[bytes, bytes], target: PreviewTarget = BY_NAME) -> Pairs:
    return response_headers(given, target, PUBLIC)


def value(pairs: Pairs, name: bytes) -> list[bytes]:
    return [v for n, v in pairs if n == name]


def test_a_program_receives_localhost_as_host_and_the_public_address_in_x_forwarded_headers() -> None:
    given = asked((b"host", b"evil"), (b"x-forwarded-for", b"1.1.1.1"), (b"forwarded", b"for=1"), target=BY_PATH)
    assert given == [
        (b"host", b"localhost:5173"),
        (b"x-forwarded-host", b"gw:8080"),
        (b"x-forwarded-proto", b"http"),
        (b"x-forwarded-for", b"192.0.2.1"),
        (b"x-forwarded-prefix", BY_PATH.prefix.encode()),
    ]
    assert value(asked(), b"x-forwarded-prefix") == []


def test_hop_by_hop_headers_are_removed() -> None:
    pairs = ((b"connection", b"keep-alive, X-Mine"), (b"x-mine", b"1"), (b"te", b"trailers"), (b"keep-alive", b"5"))
    more = (
        (b"upgrade", b"h2c"),
        (b"transfer-encoding", b"chunked"),
        (b"proxy-authorization", b"x"),
        (b"x-yours", b"2"),
    )
    assert asked(*pairs, *more)[1:-3] == [(b"x-yours", b"2")]
    assert answered(*pairs, *more)[:-2] == [(b"x-yours", b"2")]


def test_content_length_beside_transfer_encoding_is_removed() -> None:
    pairs = answered((b"Content-Length", b"3"), (b"Transfer-Encoding", b"chunked"))
    assert value(pairs, b"content-length") == []


def test_connection_cannot_remove_content_length() -> None:
    assert value(asked((b"connection", b"content-length"), (b"content-length", b"5")), b"content-length") == [b"5"]


@pytest.mark.parametrize("token", [b"the owner's token"])
def test_tokens_of_the_gateway_do_not_reach_the_program(token: bytes) -> None:
    theirs = (b"authorization", b"Bearer something of theirs")
    assert value(asked((b"authorization", b"Bearer " + token), theirs), b"authorization") == [theirs[1]]
    assert value(asked((b"authorization", b"bearer   " + token)), b"authorization") == []


def test_any_page_in_a_sandbox_may_know_the_name_of_a_tunnel_by_path_so_it_is_not_trusted() -> None:
    target = PreviewTarget("", "jupyter", b"/", "/t/jupyter", None, "gw:8080", tunnel=True)
    own = (b"access-control-allow-origin", b"http://localhost:5173")
    assert value(asked((b"origin", b"null"), target=target), b"origin") == [b"null"]
    assert value(answered(target=target), b"access-control-allow-origin") == []
    assert value(answered(own, target=target), own[0]) == [own[1]]
    assert value(answered(target=target), b"content-security-policy") == [SANDBOX]
    preflight = [(b"origin", b"null"), (b"access-control-request-method", b"PUT")]
    assert preflight_response(preflight, target, "OPTIONS") is None
    assert preflight_response(preflight, BY_PATH, "OPTIONS") is not None


def test_a_page_by_path_gets_a_csp_sandbox() -> None:
    pairs = answered((b"content-security-policy", b"default-src *"), target=BY_PATH)
    assert value(pairs, b"content-security-policy") == [b"default-src *", SANDBOX]
    assert b"allow-same-origin" not in SANDBOX
    assert value(pairs, b"access-control-allow-origin") == [b"*"]
    assert value(answered(), b"content-security-policy") == []
    assert value(answered(), b"access-control-allow-origin") == []


def test_headers_that_affect_more_than_the_preview_are_removed() -> None:
    storage = ((b"Clear-Site-Data", b'"*"'), (b"Service-Worker-Allowed", b"/"))
    host = ((b"Strict-Transport-Security", b"max-age=1"), (b"Alt-Svc", b'h3=":1"'), (b"NEL", b"{}"))
    assert len(answered(*storage, *host, target=BY_PATH)) == 4
    left = [name for name, _ in answered(*storage, *host)]
    assert left == [b"service-worker-allowed", b"referrer-policy", b"cache-control"]


def test_the_browser_revalidates_unless_the_program_sets_caching_headers() -> None:
    assert value(answered((b"last-modified", b"x")), b"cache-control") == [b"no-cache"]
    assert value(answered((b"Cache-Control", b"max-age=60")), b"cache-control") == [b"max-age=60"]
    assert value(answered((b"expires", b"0")), b"cache-control") == []


def test_the_address_is_not_sent_to_other_sites() -> None:
    assert value(answered((b"referrer-policy", b"unsafe-url")), b"referrer-policy") == [b"same-origin"]


@pytest.mark.parametrize(
    ("given", "by_name", "by_path"),
    [
        (b"/a?b#c", b"/a?b#c", b"PREFIX/a?b#c"),
        (b"a/b", b"a/b", b"a/b"),
        (b"http://localhost:5173/a", b"/a", b"PREFIX/a"),
        (b"http://127.0.0.1:5173", b"/", b"PREFIX/"),
        (b"http://[::1]:5173?q", b"/?q", b"PREFIX/?q"),
        (b"http://localhost:9999/a", b"http://localhost:9999/a", b"http://localhost:9999/a"),
        (b"http://localhost/a", b"http://localhost/a", b"http://localhost/a"),
        (b"http://localhost:5173.evil/a", b"http://localhost:5173.evil/a", b"http://localhost:5173.evil/a"),
        (b"https://example.org/a", b"https://example.org/a", b"https://example.org/a"),
        (b"//example.org/a", b"//example.org/a", b"//example.org/a"),
        (b"http://OWN/a", b"/a", b"PREFIX/a"),
    ],
)
def test_a_location_on_localhost_is_rewritten_for_the_browser(given: bytes, by_name: bytes, by_path: bytes) -> None:
    for target, expected in ((BY_NAME, by_name), (BY_PATH, by_path)):
        expected = expected.replace(b"PREFIX", target.prefix.encode())
        assert value(
            answered((b"location", given.replace(b"OWN", target.host.encode())), target=target), b"location"
        ) == [expected]


def test_a_location_with_a_port_that_is_too_long_is_passed_on() -> None:
    location = b"http://localhost:" + b"1" * 5000
    assert value(answered((b"location", location), target=BY_PATH), b"location") == [location]


def test_a_location_with_the_prefix_keeps_a_single_prefix() -> None:
    location = f"http://gw:8080{BY_PATH.prefix}/x".encode()
    assert value(answered((b"location", location), target=BY_PATH), b"location") == [f"{BY_PATH.prefix}/x".encode()]


def test_a_cookie_is_restricted_to_its_preview() -> None:
    cookie = (b"set-cookie", b"sid=1; Domain=.example.org; path=/app; HttpOnly")
    assert value(answered(cookie), b"set-cookie") == [b"sid=1; path=/app; HttpOnly"]
    assert value(answered(cookie, target=BY_PATH), b"set-cookie") == [
        f"p-abcdefgh-sid=1; HttpOnly; Path={BY_PATH.prefix}/app".encode()
    ]
    assert value(answered((b"set-cookie", b"a=b"), target=BY_PATH), b"set-cookie") == [
        f"p-abcdefgh-a=b; Path={BY_PATH.prefix}/".encode()
    ]


def test_a_program_receives_only_the_cookies_of_its_preview() -> None:
    cookies = (b"cookie", b"p-abcdefgh-sid=1; session=of-the-gateway; p-other000-sid=2; p-abcdefgh-b=3")
    assert value(asked(cookies, target=BY_PATH), b"cookie") == [b"sid=1; b=3"]
    assert value(asked((b"cookie", b"session=1"), target=BY_PATH), b"cookie") == []
    assert value(asked((b"cookie", b"session=1")), b"cookie") == [b"session=1"], "a name of its own has its own"


@pytest.mark.parametrize("scheme", [b"http", b"https", b"HTTP"])
@pytest.mark.parametrize("target", [BY_NAME, BY_PATH])
def test_the_previews_own_origin_is_translated_like_host(target: PreviewTarget, scheme: bytes) -> None:
    own = scheme + b"://" + target.host.encode()
    given = asked((b"origin", own), (b"referer", own + target.prefix.encode() + b"/lab?x=1"), target=target)
    assert value(given, b"host") == [b"localhost:5173"]
    assert value(given, b"origin") == [b"http://localhost:5173"]
    assert value(given, b"referer") == [b"http://localhost:5173/lab?x=1"]


@pytest.mark.parametrize(
    "origin", [b"null", b"http://evil.example", b"http://localhost:5173", b"http://x." + BY_NAME.host.encode(), b""]
)
def test_another_origin_is_unchanged(origin: bytes) -> None:
    given = asked((b"origin", origin), (b"referer", origin + b"/a"))
    assert (value(given, b"origin"), value(given, b"referer")) == ([origin], [origin + b"/a"])


def test_the_null_origin_of_a_page_by_path_is_translated_to_the_programs_own_origin() -> None:
    assert value(asked((b"origin", b"null"), target=BY_PATH), b"origin") == [b"http://localhost:5173"]
    assert value(asked((b"origin", b"null"), target=BY_NAME), b"origin") == [b"null"]


@pytest.mark.parametrize(
    ("allowed", "by_path"),
    [
        (b"http://localhost:5173", b"null"),
        (b"*", b"*"),
        (b"null", b"null"),
        (b"http://localhost:9999", b"http://localhost:9999"),
    ],
)
def test_a_program_that_allows_its_own_origin_allows_its_page_by_path(allowed: bytes, by_path: bytes) -> None:
    header = (b"access-control-allow-origin", allowed)
    assert value(answered(header, target=BY_PATH), header[0]) == [by_path]
    assert value(answered(header, target=BY_NAME), header[0]) == [allowed]


@pytest.mark.parametrize("name", [b"x_forwarded_for", b"x_forwarded-host", b"x-real_ip", b"proxy_authorization"])
def test_headers_that_wsgi_confuses_with_forwarded_headers_are_removed(name: bytes) -> None:
    assert value(asked((name, b"1.1.1.1")), name) == []


@pytest.mark.parametrize("target", [BY_NAME, BY_PATH])
def test_a_preview_cannot_clear_the_data_of_other_previews(target: PreviewTarget) -> None:
    assert value(answered((b"Clear-Site-Data", b'"cookies"'), target=target), b"clear-site-data") == []
