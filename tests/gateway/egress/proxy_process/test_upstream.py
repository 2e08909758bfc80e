"""Look-ups, and connections to checked addresses."""

import ipaddress
import ssl
from pathlib import Path

import pytest

from hawse_gateway.egress.proxy_process.upstream import Upstream
from hawse_gateway.egress.refusals import RefusedError
from tests.support.echo_server import EchoServer, Trusted
from tests.support.stack import free_port

LOOPBACK = [ipaddress.ip_address("127.0.0.1")]


async def reason(upstream: Upstream, host: str) -> str:
    with pytest.raises(RefusedError) as caught:
        await upstream.resolve(host)
    return caught.value.reason


async def test_a_name_of_this_machine_is_refused() -> None:
    assert await reason(Upstream(), "localhost") == "address"


async def test_a_literal_address_is_checked_like_a_names_address() -> None:
    upstream = Upstream()
    assert await reason(upstream, "169.254.169.254") == "address"
    assert await reason(upstream, "::1") == "address"
    assert await upstream.resolve("1.1.1.1") == [ipaddress.ip_address("1.1.1.1")]


async def test_a_name_without_an_address_is_refused() -> None:
    assert await reason(Upstream(), "does-not-exist.invalid") == "name"


async def test_addresses_that_an_operator_gives_names_are_checked_too() -> None:
    assert await reason(Upstream(addresses={"api.test": "10.0.0.1"}), "api.test") == "address"
    permitted = Upstream(["10.0.0.0/8"], {"api.test": "10.0.0.1"})
    assert await permitted.resolve("api.test") == [ipaddress.ip_address("10.0.0.1")]


async def test_a_server_must_prove_its_name(tmp_path: Path) -> None:
    trusted = Trusted(tmp_path)
    upstream = Upstream(trusted=trusted.certificate)
    with EchoServer(trusted, "api.test") as server:
        _, writer = await upstream.connect("api.test", LOOPBACK, server.port, tls=True)
        writer.transport.abort()
        with pytest.raises(ssl.SSLError):
            await upstream.connect("other.test", LOOPBACK, server.port, tls=True)
        with pytest.raises(ssl.SSLCertVerificationError):
            await Upstream().connect("api.test", LOOPBACK, server.port, tls=True)


async def test_a_port_without_a_server_is_an_error() -> None:
    with pytest.raises(OSError):
        await Upstream().connect("api.test", LOOPBACK, free_port(), tls=False)
