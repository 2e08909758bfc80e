"""Forwarded and refused requests."""

import h11
import pytest
from hypothesis import given, strategies as st

from hawse_gateway.egress.proxy_process.requests import (
    CheckedRequest,
    Origin,
    answer_headers,
    check_request,
    is_encoded,
    is_piece,
    tunnel_origin,
)
from hawse_gateway.egress.refusals import RefusedError

TUNNEL = Origin("api.test", 443, tls=True)


def parse(raw: bytes) -> h11.Request:
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(raw)
    event = connection.next_event()
    assert isinstance(event, h11.Request)
    return event


def check(target: str, *headers: str, method: str = "GET", tunnel: Origin | None = None) -> CheckedRequest:
    lines = [f"{method} {target} HTTP/1.1", *(headers or ("Host: api.test",)), "", ""]
    return check_request(parse("\r\n".join(lines).encode("latin-1")), tunnel)


def refused(target: str, *headers: str, method: str = "GET", tunnel: Origin | None = None) -> str:
    with pytest.raises(RefusedError) as caught:
        check(target, *headers, method=method, tunnel=tunnel)
    return caught.value.reason


def test_an_absolute_target_names_the_server() -> None:
    checked = check("http://API.test:8080/p?q=1", "Host: api.test:8080", "X-A: 1")
    assert checked.origin == ("api.test", 8080, False)
    assert checked.target == b"/p?q=1"
    assert checked.headers == [(b"host", b"api.test:8080"), (b"x-a", b"1"), (b"connection", b"close")]
    assert check("http://api.test").target == b"/"


def test_in_a_tunnel_it_is_for_the_host_of_the_tunnel() -> None:
    checked = check("/p", "Host: api.test", tunnel=TUNNEL)
    assert (checked.origin, checked.target) == (TUNNEL, b"/p")
    assert check("*", method="OPTIONS", tunnel=TUNNEL).target == b"*"
    assert check("/", "Host: API.TEST:443", tunnel=TUNNEL).headers[0] == (b"host", b"api.test")


@pytest.mark.parametrize(
    "target",
    [
        *("/p", "https://api.test/", "ftp://api.test/", "//api.test/", "http:/api.test/", "*"),
        *("http://api.test?x", "http://api.test/#f"),
    ],
)
def test_a_target_without_an_origin_is_refused(target: str) -> None:
    assert refused(target) == "protocol"


@pytest.mark.parametrize(
    "target",
    [
        *("http://a@api.test/", "http://api.test:80:81/", "http://api.test:+80/", "http://api.test:0/", "http:///"),
        *("http://api.test\\@evil.test/", "http://127.1/", "http://[::1/", "http://::1/", "http://0x7f.1/"),
        "http://api.test%2eevil.test/",
    ],
)
def test_an_ambiguous_host_is_refused(target: str) -> None:
    assert refused(target) == "name"


@pytest.mark.parametrize("target", ["http://api.test/", "https://api.test/", "*", "api.test:443", "?x"])
def test_in_a_tunnel_a_target_is_a_path(target: str) -> None:
    assert refused(target, tunnel=TUNNEL) == "protocol"


@pytest.mark.parametrize("host", ["evil.test", "api.test:444", "api.test.evil.test"])
def test_another_host_is_refused(host: str) -> None:
    assert refused("/", f"Host: {host}", tunnel=TUNNEL) == "mismatch"
    assert refused("http://api.test/", f"Host: {host}") == "mismatch"


def test_two_lengths_are_refused() -> None:
    lengths = ("Content-Length: 3", "Transfer-Encoding: chunked")
    assert refused("/", "Host: api.test", *lengths, tunnel=TUNNEL) == "protocol"


def test_a_websocket_is_refused_and_another_upgrade_is_not_passed_on() -> None:
    upgrade = ("Host: api.test", "Connection: Upgrade, HTTP2-Settings")
    assert refused("/", *upgrade, "Upgrade: WebSocket", tunnel=TUNNEL) == "upgrade"
    names = [name for name, _ in check("/", *upgrade, "Upgrade: h2c", "HTTP2-Settings: AA", tunnel=TUNNEL).headers]
    assert names == [b"host", b"connection"]


def test_headers_of_the_connection_are_not_passed_on() -> None:
    own = ("Connection: x-mine, close", "X-Mine: 1", "Proxy-Authorization: a", "TE: trailers", "Expect: x")
    checked = check("/", "Host: api.test", *own, "X-Other: 2", tunnel=TUNNEL)
    assert checked.headers == [(b"host", b"api.test"), (b"x-other", b"2"), (b"connection", b"close")]


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-HTTP-Method", "x_method_override"])
def test_a_header_cannot_name_another_method(name: str) -> None:
    assert refused("/", "Host: api.test", f"{name}: DELETE", tunnel=TUNNEL) == "method"
    assert check("/", "Host: api.test", f"{name}: get", tunnel=TUNNEL).method == "GET"


@pytest.mark.parametrize(
    "method", ["delete", "Delete", "trace", "gET", "GET1", "X_A", "-A", "A-", "A" * 33, "WEBSOCKET"]
)
@pytest.mark.parametrize("tunnel", [None, TUNNEL])
def test_a_method_has_upper_case_letters_only(method: str, tunnel: Origin | None) -> None:
    target = "/" if tunnel else "http://api.test/"
    assert refused(target, method=method, tunnel=tunnel) == "method"
    assert check(target, method="VERSION-CONTROL", tunnel=tunnel).method == "VERSION-CONTROL"


def test_connection_cannot_remove_the_length() -> None:
    checked = check("/", "Host: api.test", "Connection: content-length", "Content-Length: 3", tunnel=TUNNEL)
    assert (b"content-length", b"3") in checked.headers


def test_connect_names_a_host_and_a_port() -> None:
    assert tunnel_origin(parse(b"CONNECT Api.test:443 HTTP/1.1\r\nHost: x\r\n\r\n")) == ("api.test", 443, True)
    for target in (b"api.test", b"api.test:", b"https://api.test", b"::1:443", b"a@api.test:443", b"2130706433:443"):
        with pytest.raises(RefusedError):
            tunnel_origin(parse(b"CONNECT " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n"))


def test_answers() -> None:
    headers = [("Content-Length", "3"), ("Connection", "x-b"), ("X-B", "1"), ("Content-Encoding", "gzip")]
    kept = answer_headers(h11.Response(status_code=200, headers=headers))
    assert kept == [(b"content-length", b"3"), (b"content-encoding", b"gzip")]
    assert is_encoded(kept)
    assert not is_encoded([(b"content-encoding", b"Identity")])
    assert is_encoded([(b"sec-websocket-extensions", b"permessage-deflate")])


@pytest.mark.parametrize(("status", "expected"), [(200, False), (206, True), (226, True), (416, False)])
def test_a_part_of_a_content_is_a_piece(status: int, expected: bool) -> None:
    assert is_piece(h11.Response(status_code=status, headers=[])) is expected


@given(st.binary(max_size=80))
def test_any_target_is_refused_or_for_a_valid_host(noise: bytes) -> None:
    target = b"http://" + bytes(byte for byte in noise if 0x21 <= byte <= 0x7E) + b"/"
    request = h11.Request(method="GET", target=target, headers=[("Host", "x")])
    try:
        checked = check_request(request, None)
    except RefusedError:
        return
    assert checked.origin.host == "x"
