import ssl
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

import hawse
from hawse.client import GaveUpError, Options
from hawse_gateway.transport.tls import Certificate, CertificateError
from tests.support.certificates import Authority, private_key, served_name
from tests.support.gateway import TOKEN, FakeRuntime, Gateway

QUICK = Options(connect_timeout=60.0, give_up=0.0)


def handshake(server: ssl.SSLContext, authority: Authority, *, name: str | None = "localhost") -> ssl.SSLObject:
    """Return the client's end of a TLS connection in memory."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    trusted = ssl.create_default_context(cafile=str(authority.path))
    trusted.check_hostname = name is not None
    client = trusted.wrap_bio(to_client, to_server, server_hostname=name)
    ends = [client, server.wrap_bio(to_server, to_client, server_side=True)]
    while ends:
        for end in list(ends):
            try:
                end.do_handshake()
                ends.remove(end)
            except ssl.SSLWantReadError:
                pass
    return client


def test_a_renewed_certificate_is_used_by_new_handshakes_also_without_a_name(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate = Certificate(*authority.issue("first"))
    assert served_name(handshake(certificate.context, authority)) == "first"
    assert not certificate.reload()
    authority.issue("second")
    assert certificate.reload()
    assert served_name(handshake(certificate.context, authority)) == "second"
    assert served_name(handshake(certificate.context, authority, name=None)) == "second"


def test_half_of_a_renewal_keeps_the_previous_certificate(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    authority = Authority(tmp_path)
    chain, key = authority.issue("first")
    certificate = Certificate(chain, key)
    old = key.read_bytes()
    authority.issue("second")
    new = key.read_bytes()
    key.write_bytes(old)
    assert not certificate.reload()
    assert "cannot renew the certificate" in caplog.text
    assert served_name(handshake(certificate.context, authority)) == "first"
    key.unlink()
    assert not certificate.reload()
    key.write_bytes(new)
    assert certificate.reload()
    assert served_name(handshake(certificate.context, authority)) == "second"


def test_the_key_may_be_in_the_file_of_the_certificate_and_tls_is_new_enough(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    chain, key = authority.issue("one file")
    chain.write_bytes(chain.read_bytes() + key.read_bytes())
    context = Certificate(chain).context
    client = handshake(context, authority)
    assert (served_name(client), client.version()) == ("one file", "TLSv1.3")
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    chain, key = Authority(tmp_path).issue("x")
    with pytest.raises(CertificateError, match=r"none\.pem: No such file"):
        Certificate(tmp_path / "none.pem")
    with pytest.raises(CertificateError, match="not a PEM certificate and its key"):
        Certificate(key, key)
    key.write_bytes(private_key(ec.generate_private_key(ec.SECP256R1()), b"secret"))
    with pytest.raises(CertificateError, match="has a passphrase"):
        Certificate(chain, key)


async def test_clients_call_over_tls_with_a_secure_cookie_and_a_renewed_certificate_keeps_their_connections(
    runtime: FakeRuntime, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    certificate = Certificate(*authority.issue("first"))
    trusted = ssl.create_default_context(cafile=str(authority.path))
    async with Gateway(runtime, certificate=certificate) as gateway:
        address = f"https://localhost:{gateway.port}"
        async with hawse.connect(address, token=TOKEN, ca=authority.path, options=QUICK) as client:
            assert await client.call("answer", {"a": 1}, sandbox="local") == {"a": 1}
            authority.issue("second")
            assert certificate.reload()
            async with httpx.AsyncClient(verify=trusted, trust_env=False, timeout=60) as http:
                own = {"Authorization": f"Bearer {TOKEN}", "Origin": address}
                answer = await http.post(f"{address}/v1/session", headers=own)
                assert answer.status_code == 201
                assert served_name(answer.extensions["network_stream"].get_extra_info("ssl_object")) == "second"
                cookie = answer.headers["set-cookie"]
                assert cookie.startswith(f"__Host-hawse-{gateway.port}-")
                assert "; Secure" in cookie
            assert await client.call("answer", {"a": 2}, sandbox="local") == {"a": 2}
            assert client.connections == 1
        with pytest.raises(GaveUpError, match="certificate verify failed"):
            async with hawse.connect(address, token=TOKEN, options=QUICK):
                pass


async def test_a_websocket_that_breaks_the_protocol_gets_the_reason_over_tls(
    runtime: FakeRuntime, tmp_path: Path
) -> None:
    """A TLS connection has no half-close."""
    authority = Authority(tmp_path)
    certificate = Certificate(*authority.issue("x"))
    async with Gateway(runtime, certificate=certificate) as gateway:
        trusted = ssl.create_default_context(cafile=str(authority.path))
        async with gateway.dial(ssl=trusted) as ws:
            await ws.send(b"\xff" * (2 << 20))
            await ws.wait_closed()
            assert ws.close_code == 1009
