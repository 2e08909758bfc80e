"""How secrets get into requests."""

import base64

import pytest

from hawse_gateway.egress.secrets import Injected, Injector, Secret

HEADERS = [(b"host", b"api.test"), (b"authorization", b"mine"), (b"accept-encoding", b"gzip")]


def inject(
    secret: Secret, host: str = "api.test", port: int = 443, target: bytes = b"/p?a=1", method: str = "GET"
) -> Injected:
    return Injector([secret]).inject(host, port, method, target, HEADERS)


def test_a_header_replaces_the_programs_header() -> None:
    sent = inject(Secret(hosts=["api.test"], into="header", name="Authorization", value="xyz1", prefix="Bearer "))
    assert [value for name, value in sent.headers if name == b"authorization"] == [b"Bearer xyz1"]
    assert sent.hidden == (b"xyz1",)


def test_an_answer_with_a_secret_must_not_be_compressed() -> None:
    sent = inject(Secret(hosts=["api.test"], into="header", name="x-key", value="xyz1"))
    assert [value for name, value in sent.headers if name == b"accept-encoding"] == [b"identity"]


def test_basic_authentication() -> None:
    sent = inject(Secret(hosts=["api.test"], into="basic", name="git", value="pass word"))
    encoded = base64.b64encode(b"git:pass word")
    assert (b"authorization", b"Basic " + encoded) in sent.headers
    assert {b"pass word", encoded} <= set(sent.hidden)


def test_a_query_parameter_replaces_the_programs_parameter() -> None:
    secret = Secret(hosts=["api.test"], into="query", name="key", value="a b&c")
    assert inject(secret, target=b"/p?a=1&key=mine&k%65y=too&b=2").target == b"/p?a=1&b=2&key=a%20b%26c"
    assert inject(secret, target=b"/p").target == b"/p?key=a%20b%26c"
    assert set(inject(secret).hidden) == {b"a b&c", b"a%20b%26c", b"a+b%26c", b"a b&amp;c"}


@pytest.mark.parametrize("name", ["Range", "If-Range", "x-ms-range", "x_ms_range", "A-IM", "Accept-Charset"])
def test_a_program_cannot_ask_for_pieces_of_an_answer_with_a_secret(name: str) -> None:
    secret = Secret(hosts=["api.test"], into="header", name="x-key", value="xyz1")
    asked = [*HEADERS, (name.lower().encode(), b"bytes=0-3")]
    assert name.lower().encode() not in dict(Injector([secret]).inject("api.test", 443, "GET", b"/", asked).headers)
    assert Injector([secret]).inject("other.test", 443, "GET", b"/", asked).headers == asked


def test_other_hosts_ports_and_methods_get_nothing() -> None:
    secret = Secret(hosts=["GET api.test", "*.api.test:8443"], into="header", name="x-key", value="xyz1")
    for host, port, method in (("evil.test", 443, "GET"), ("api.test", 8443, "GET"), ("api.test", 443, "POST")):
        sent = inject(secret, host, port, method=method)
        assert (sent.headers, sent.target, sent.hidden) == (HEADERS, b"/p?a=1", ())
    assert inject(secret, "x.api.test", 8443).hidden


def test_the_value_is_in_no_representation() -> None:
    secret = Secret(hosts=["api.test"], into="header", name="x-key", value="the value")
    assert "the value" not in repr(secret)
