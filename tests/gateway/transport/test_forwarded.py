from typing import Any

import pytest

from hawse_gateway.transport.forwarded import ForwardedHeader, parse_forwarded, parse_node

PROXY = ("10.0.0.1", 5000)


async def seen(*values: str, client: tuple[str, int] = PROXY, type: str = "http") -> tuple[str, tuple[str, int]]:
    """Return the scheme and the client that an application sees."""
    found: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        found.append(scope)

    scheme = "ws" if type == "websocket" else "http"
    headers = [(b"forwarded", value.encode("latin-1")) for value in values]
    headers.append((b"x-forwarded-for", b"6.6.6.6"))
    await ForwardedHeader(app, ["10.0.0.0/8", "::1"])(
        {"type": type, "scheme": scheme, "client": client, "headers": headers}, None, None
    )
    return found[0]["scheme"], found[0]["client"]


async def test_the_scheme_and_the_client_are_those_that_the_proxy_reports() -> None:
    assert await seen("for=192.0.2.60;proto=https;by=203.0.113.43") == ("https", ("192.0.2.60", 0))
    assert await seen('FOR="[2001:db8::1]:4711" ; Proto=HTTPS') == ("https", ("2001:db8::1", 4711))
    assert await seen("for=192.0.2.60;proto=https", type="websocket") == ("wss", ("192.0.2.60", 0))
    assert await seen("for=unknown") == ("http", ("unknown", 0))
    assert await seen('for="_hidden:_port"') == ("http", ("_hidden", 0))
    assert await seen("for=192.0.2.60", client=("::1", 1)) == ("http", ("192.0.2.60", 0))


async def test_elements_before_the_trusted_proxies_are_ignored() -> None:
    forged = "for=127.0.0.1;proto=https"
    assert await seen(forged, "for=192.0.2.60;proto=http, for=10.0.0.7;proto=https") == ("http", ("192.0.2.60", 0))
    assert await seen(forged, "for=192.0.2.60") == ("http", ("192.0.2.60", 0))
    assert await seen(forged, "for=unknown;proto=http") == ("http", ("unknown", 0))
    assert await seen(f"{forged}, proto=http") == ("http", PROXY)


async def test_all_trusted_means_that_the_first_is_the_client() -> None:
    assert await seen("for=10.0.0.9;proto=https, for=10.0.0.8") == ("https", ("10.0.0.9", 0))


async def test_other_clients_and_other_headers_do_not_count() -> None:
    assert await seen("for=192.0.2.60;proto=https", client=("192.0.2.1", 7)) == ("http", ("192.0.2.1", 7))
    assert await seen() == ("http", PROXY)


@pytest.mark.parametrize(
    "value",
    [
        "for",
        "for=",
        'for="a',
        "for=a b=c d",
        "for=a;for=b",
        "=a",
        "for=[::1]",
        'for="a"b',
        "for=a:1",
        "\xff=1",
        "for==a",
    ],
)
async def test_a_header_that_is_not_valid_is_ignored(value: str) -> None:
    assert parse_forwarded(value) is None
    assert await seen(value) == ("http", PROXY)


def test_elements_and_nodes_are_parsed_as_in_the_standard() -> None:
    assert parse_forwarded("") == []
    assert parse_forwarded(', for=a ;; proto=b,\t,host="x\\"y\\\\"') == [{"for": "a", "proto": "b"}, {"host": 'x"y\\'}]
    assert parse_node("192.0.2.1:80") == ("192.0.2.1", 80)
    assert parse_node("[::1]") == ("::1", 0)
    assert parse_node("192.0.2.1:70000") == ("192.0.2.1", 0)
    for text in ("", "[::1", "::1", "a:b:c", "[x]"):
        assert parse_node(text) == ("", 0)
