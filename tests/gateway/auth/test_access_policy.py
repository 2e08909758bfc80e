from collections.abc import Iterable

import pytest

from hawse.wire import HawseError
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.auth.tickets import Tickets
from tests.support.stores import credentials

TOKEN = "correct horse battery staple"


def policy(*, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> AccessPolicy:
    return AccessPolicy(credentials(TOKEN), Tickets(lambda: 0.0), hosts=hosts, origins=origins)


def headers(**values: str) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in values.items()]


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1:8080", "[::1]:8080", "box.example", "Box.Example:443"],
)
def test_the_gateways_own_host_names_are_allowed(host: str) -> None:
    assert policy(hosts=["box.example"]).host_allowed(headers(host=host))


@pytest.mark.parametrize("host", ["192.168.1.5", "10.0.0.1:8080", "[fe80::1]:80"])
def test_an_ip_address_is_allowed_since_dns_cannot_rebind_it(host: str) -> None:
    assert policy().host_allowed(headers(host=host))


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example:8080",
        "",
        "localhost@evil.example",
        "evil.example/localhost",
        "localhost:port",
        "[::1",
    ],
)
def test_a_foreign_or_malformed_host_is_refused(host: str) -> None:
    assert not policy(hosts=["box.example"]).host_allowed(headers(host=host))


def test_a_request_without_host_or_with_two_is_refused() -> None:
    access_policy = policy()
    assert not access_policy.host_allowed([])
    assert not access_policy.host_allowed([(b"host", b"localhost"), (b"host", b"localhost")])


def test_a_client_without_an_origin_is_allowed() -> None:
    assert policy().origin_allowed(headers(host="localhost:8080"), "ws")


@pytest.mark.parametrize(
    ("origin", "host", "scheme"),
    [
        ("http://localhost:8080", "localhost:8080", "ws"),
        ("http://127.0.0.1:8080", "127.0.0.1:8080", "http"),
        ("HTTP://LocalHost:8080", "localhost:8080", "ws"),
        ("http://localhost", "localhost:80", "ws"),
        ("https://box.example", "box.example", "wss"),
        ("https://box.example:443", "box.example", "https"),
        ("https://app.example", "localhost:8080", "ws"),
    ],
)
def test_the_gateways_own_origin_and_allowed_origins_are_accepted(origin: str, host: str, scheme: str) -> None:
    access_policy = policy(origins=["https://app.example"])
    assert access_policy.origin_allowed(headers(host=host, origin=origin), scheme)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost:8081",
        "https://localhost:8080",
        "http://localhost:8080.evil.example",
        "http://127.0.0.1:8080",
        "null",
        "",
        "file://",
        "http://localhost:8080/path",
        "http://x@localhost:8080",
        "http://app.example",
        "chrome-extension://abcdef",
        "http://localhost:99999999",
    ],
)
def test_a_foreign_origin_is_refused(origin: str) -> None:
    access_policy = policy(origins=["https://app.example"])
    assert not access_policy.origin_allowed(headers(host="localhost:8080", origin=origin), "ws")


def test_two_origin_headers_are_refused() -> None:
    given = [(b"host", b"localhost"), (b"origin", b"http://localhost"), (b"origin", b"http://localhost")]
    assert not policy().origin_allowed(given, "ws")


@pytest.mark.parametrize("value", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"Bearer   {TOKEN} "])
def test_the_token_is_accepted(value: str) -> None:
    assert policy().bearer(headers(authorization=value))


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Bearer ", "Bearer wrong", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ÿ"]
)
def test_any_other_authorization_is_refused(value: str) -> None:
    assert not policy().bearer(headers(authorization=value))


def test_the_owners_token_identifies_the_owner() -> None:
    identity = policy().bearer(headers(authorization=f"Bearer {TOKEN}"))
    assert identity is not None
    assert identity.principal == OWNER


def test_a_missing_or_repeated_authorization_is_refused() -> None:
    access_policy = policy()
    value = (b"authorization", f"Bearer {TOKEN}".encode())
    assert not access_policy.bearer([])
    assert not access_policy.bearer([value, value])


def test_a_host_is_allowed_with_and_without_its_port() -> None:
    access_policy = policy(hosts=["Box.example:8400"])
    for host in ("box.example", "box.example:8400", "BOX.EXAMPLE:80"):
        assert access_policy.host_allowed(headers(host=host))


def test_a_refusal_names_the_host_or_origin_and_the_option_that_allows_it() -> None:
    access_policy = policy()
    with pytest.raises(HawseError, match=r"'evil\.example:8400' is not a name of this gateway: .* --allow-host"):
        access_policy.check_host(headers(host="evil.example:8400"))
    with pytest.raises(HawseError, match=r"origin 'http://evil\.example' may not call .* --allow-origin"):
        access_policy.check_origin(headers(host="localhost", origin="http://evil.example"), "http")
    with pytest.raises(HawseError, match="'' is not a name"):
        access_policy.check_host([])
    access_policy.check_host(headers(host="localhost:1"))
    access_policy.check_origin(headers(host="localhost"), "http")
