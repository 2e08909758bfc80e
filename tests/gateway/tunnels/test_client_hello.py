"""The names in OpenSSL's first messages, and messages without one."""

import ssl

import pytest
from hypothesis import given, strategies as st

from hawse_gateway.tunnels.client_hello import HELLO_MAX, HelloError, server_name


def hello(name: str | None = "t-shop.example.org") -> bytes:
    """The first bytes that OpenSSL sends for a name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        connection.do_handshake()
    return outgoing.read()


def split(data: bytes, size: int) -> bytes:
    """The same message in records of at most `size` bytes."""
    body = data[5:]
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(data[:3] + len(part).to_bytes(2, "big") + part for part in parts)


def test_the_name_is_read_in_lower_case() -> None:
    assert server_name(hello()) == "t-shop.example.org"
    assert server_name(hello("T-Shop.Example.ORG")) == "t-shop.example.org"
    assert server_name(hello() + b"more") == "t-shop.example.org"


@pytest.mark.parametrize("size", [1, 3, 4, 5, 100, 1000])
def test_a_message_may_be_in_several_records(size: int) -> None:
    assert server_name(split(hello(), size)) == "t-shop.example.org"


def test_more_bytes_are_needed_until_the_message_is_complete() -> None:
    data = split(hello(), 100)
    assert [server_name(data[:size]) for size in range(len(data))] == [None] * len(data)


def test_a_client_that_names_no_host_is_refused() -> None:
    with pytest.raises(HelloError, match="exactly one host"):
        server_name(hello(None))
    with pytest.raises(HelloError, match="exactly one host"):
        server_name(hello("127.0.0.1"))


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"\x16\x02",
        b"\x17\x03\x01\x00\x01\x00",
        b"\x16\x03\x01\x00\x00",
        b"\x16\x03\x01\xff\xff",
        b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
        b"\x16\x03\x01\x00\x04\x01\xff\xff\xff",
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
    ],
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(HelloError):
        server_name(data)


def test_a_message_is_bounded() -> None:
    endless = b"\x16\x03\x01\x40\x00\x01\x00\x3f\xf0" + bytes(HELLO_MAX)
    with pytest.raises(HelloError):
        server_name(endless[:HELLO_MAX])


@given(st.data())
def test_a_damaged_message_never_raises_anything_else(data: st.DataObject) -> None:
    message = bytearray(hello())
    for _ in range(data.draw(st.integers(1, 4))):
        message[data.draw(st.integers(0, len(message) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = server_name(bytes(message))
    except HelloError:
        return
    assert found is None or isinstance(found, str)
