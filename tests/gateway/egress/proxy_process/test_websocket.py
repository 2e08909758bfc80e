"""WebSocket handshakes. The traffic afterwards is tested in test_relay.py."""

import pytest

from hawse_gateway.egress.proxy_process.websocket import accepts, handshake_key
from hawse_gateway.egress.secrets import Headers

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="  # of RFC 6455, section 1.3
VALID: Headers = [
    (b"upgrade", b"websocket"),
    (b"connection", b"keep-alive, Upgrade"),
    (b"sec-websocket-key", KEY),
    (b"sec-websocket-version", b"13"),
]


def without(name: bytes, *more: tuple[bytes, bytes]) -> Headers:
    return [*(field for field in VALID if field[0] != name), *more]


def test_a_handshake_has_a_key() -> None:
    assert handshake_key(VALID, "GET") == KEY


@pytest.mark.parametrize(
    "fields",
    [
        *(without(name) for name, _ in VALID),
        [*VALID, (b"content-length", b"3")],
        [*VALID, (b"upgrade", b"h2c")],
        without(b"sec-websocket-key", (b"sec-websocket-key", b"c2hvcnQ=")),
        without(b"sec-websocket-key", (b"sec-websocket-key", b"***")),
        without(b"sec-websocket-version", (b"sec-websocket-version", b"8")),
    ],
)
def test_other_requests_are_not_handshakes(fields: Headers) -> None:
    with pytest.raises(ValueError, match=r"the (request|version|key)"):
        handshake_key(fields, "GET")


def test_a_handshake_is_a_get_request() -> None:
    with pytest.raises(ValueError, match="GET"):
        handshake_key(VALID, "POST")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([(b"upgrade", b"WebSocket"), (b"sec-websocket-accept", b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")], True),
        ([(b"upgrade", b"websocket"), (b"sec-websocket-accept", b"c29tZXRoaW5nIGVsc2U=")], False),
        ([(b"upgrade", b"websocket")], False),
        ([(b"sec-websocket-accept", b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")], False),
    ],
)
def test_only_a_server_that_understands_the_handshake_answers_it(fields: Headers, expected: bool) -> None:
    assert accepts(fields, KEY) is expected
