"""The names and attributes of session cookies."""

import pytest

from gateway.auth import cookies
from gateway.auth.cookies import SESSIONS_IN_BROWSER

HOST = (b"host", b"127.0.0.1:8080")


def test_the_name_contains_the_port_and_over_https_the_host_prefix() -> None:
    plain = cookies.set_cookie([HOST], "http", "abc", "secret", 60.9)
    assert plain == "hawse-8080-abc=secret; Path=/; Max-Age=60; HttpOnly; SameSite=Strict"
    secure = cookies.set_cookie([(b"host", b"example.org")], "https", "abc", "secret", 60.0)
    assert secure == "__Host-hawse-443-abc=secret; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure"


@pytest.mark.parametrize("scheme", ["http", "ws", "https", "wss"])
def test_what_is_set_is_found_again(scheme: str) -> None:
    value = cookies.set_cookie([HOST], scheme, "abc", "secret", 60.0).partition(";")[0]
    headers = [HOST, (b"cookie", f"other=1; {value}; hawse-9-x=y".encode())]
    assert cookies.sessions(headers, scheme) == {"abc": "secret"}
    assert cookies.sessions([(b"host", b"127.0.0.1:81"), headers[1]], scheme) == {}


def test_a_cookie_that_occurs_twice_is_ignored() -> None:
    headers = [HOST, (b"cookie", b"hawse-8080-a=1; hawse-8080-b=2"), (b"cookie", b"hawse-8080-a=3")]
    assert cookies.sessions(headers, "http") == {"b": "2"}


@pytest.mark.parametrize("host", [b"", b"a:b", b"[", b"127.0.0.1:999999"])
def test_an_invalid_host_has_the_default_port(host: bytes) -> None:
    assert cookies.sessions([(b"host", host), (b"cookie", b"hawse-80-a=1")], "http") == {"a": "1"}


def test_the_header_names_one_session() -> None:
    assert cookies.chosen([(b"hawse-session", b" abc ")]) == "abc"
    assert cookies.chosen([]) is None
    assert cookies.chosen([(b"hawse-session", b"a"), (b"hawse-session", b"b")]) is None


def test_a_browser_keeps_a_bounded_number_of_sessions() -> None:
    found = [f"s{number}" for number in range(SESSIONS_IN_BROWSER)]
    assert cookies.surplus(found, "new") == ["s0"]
    assert cookies.surplus(found, "s3") == []
    assert cookies.surplus([], "new") == []


def test_beginning_a_session_sets_its_cookie_and_deletes_surplus_ones() -> None:
    known = "; ".join(f"hawse-8080-s{number}=x" for number in range(SESSIONS_IN_BROWSER))
    first, second = cookies.keep_session([HOST, (b"cookie", known.encode())], "http", "new", "secret", 60.0)
    assert first == cookies.set_cookie([HOST], "http", "s0", "", 0.0)
    assert second == cookies.set_cookie([HOST], "http", "new", "secret", 60.0)


def test_the_name_of_a_session_is_that_of_its_credential_and_does_not_contain_it() -> None:
    assert cookies.session_name("token-1") == cookies.session_name("token-1") != cookies.session_name("token-2")
    assert "token-1" not in cookies.session_name("token-1")
