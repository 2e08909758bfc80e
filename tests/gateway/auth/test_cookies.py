"""The names and attributes of session cookies."""

import pytest

from hawse_gateway.auth import cookies
from hawse_gateway.auth.cookies import SESSIONS_IN_BROWSER

HOST = (b"host", b"127.0.0.1:8080")


def test_the_name_contains_the_port_and_over_https_the_host_prefix() -> None:
    plain = cookies.set_cookie([HOST], "http", "abc", "secret", 60.9)
    assert plain == "hawse-8080-abc=secret; Path=/; Max-Age=60; HttpOnly; SameSite=Strict"
    secure = cookies.set_cookie([(b"host", b"example.org")], "https", "abc", "secret", 60.0)
    assert secure == "__Host-hawse-443-abc=secret; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure"


def test_a_page_in_a_frame_gets_a_partitioned_cookie() -> None:
    framed = (b"hawse-framed", b"1")
    attributes = "Path=/; Max-Age=60; HttpOnly; SameSite=None; Secure; Partitioned"
    assert cookies.set_cookie([HOST, framed], "http", "abc", "secret", 60.0) == f"hawse-8080-abc=secret; {attributes}"
    secure = cookies.set_cookie([(b"host", b"example.org"), framed], "https", "abc", "secret", 60.0)
    assert secure == f"__Host-hawse-443-abc=secret; {attributes}"


@pytest.mark.parametrize("scheme", ["http", "ws", "https", "wss"])
def test_a_cookie_that_was_set_is_found_again(scheme: str) -> None:
    value = cookies.set_cookie([HOST], scheme, "abc", "secret", 60.0).partition(";")[0]
    headers = [HOST, (b"cookie", f"other=1; {value}; hawse-9-x=y".encode())]
    assert cookies.sessions(headers, scheme) == {"abc": ["secret"]}
    assert cookies.sessions([(b"host", b"127.0.0.1:81"), headers[1]], scheme) == {}


def test_a_session_is_presented_by_a_cookie_and_the_key_of_the_header() -> None:
    first, second, key = "a" * 16, "b" * 16, "k" * 43
    given = f"{first}.{key}, {second}.{key}, {'c' * 16}.{key}, {first}, {first}.short, X{first}.{key}".encode()
    headers = [HOST, (b"cookie", f"hawse-8080-{first}=1; hawse-8080-{second}=2".encode()), (b"hawse-session", given)]
    found = cookies.presented(headers, "http")
    assert found == {first: [f"1.{key}"], second: [f"2.{key}"], "c" * 16: []}
    assert cookies.halves(found[first][0]) == ("1", key)
    assert cookies.presented(headers[:2], "http") == {}


def test_all_values_of_a_cookie_that_occurs_twice_are_presented() -> None:
    """Another program at this host can set a cookie of the same name with a longer path."""
    headers = [HOST, (b"cookie", b"hawse-8080-a=1; hawse-8080-b=2"), (b"cookie", b"hawse-8080-a=3")]
    assert cookies.sessions(headers, "http") == {"a": ["1", "3"], "b": ["2"]}


@pytest.mark.parametrize("host", [b"", b"a:b", b"[", b"127.0.0.1:999999"])
def test_an_invalid_host_has_the_default_port(host: bytes) -> None:
    assert cookies.sessions([(b"host", host), (b"cookie", b"hawse-80-a=1")], "http") == {"a": ["1"]}


def test_a_browser_keeps_a_bounded_number_of_sessions() -> None:
    found = [f"s{number}" for number in range(SESSIONS_IN_BROWSER)]
    assert cookies.surplus(found, "new") == ["s0"]
    assert cookies.surplus(found, "s3") == []
    assert cookies.surplus([], "new") == []
    assert cookies.surplus(found, "new", used=["s0", "s1", "s3"]) == ["s2"]  # the page has no key of it


def test_the_start_of_a_session_sets_its_cookie_and_deletes_surplus_ones() -> None:
    known = "; ".join(f"hawse-8080-s{number}=x" for number in range(SESSIONS_IN_BROWSER))
    first, second = cookies.keep_session([HOST, (b"cookie", known.encode())], "http", "new", "secret", 60.0)
    assert first == cookies.set_cookie([HOST], "http", "s0", "", 0.0)
    assert second == cookies.set_cookie([HOST], "http", "new", "secret", 60.0)
