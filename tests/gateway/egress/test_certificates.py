"""The authority of a sandbox, as seen by a client that trusts it."""

import ssl

import pytest

from hawse_gateway.egress.certificates import CONTEXTS, Authority, new_authority


@pytest.fixture(scope="module")
def made() -> tuple[Authority, str]:
    key, certificate = new_authority("a sandbox")
    return Authority(key, certificate), certificate


def handshake(server: ssl.SSLContext, trusted: str, name: str | None) -> ssl.SSLObject:
    """Let a strict client connect to a server; return the client's side."""
    context = ssl.create_default_context(cadata=trusted)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    if name is None:
        context.check_hostname = False
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(to_client, to_server, server_hostname=name)
    peer = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for side in (client, peer):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                pass
    client.do_handshake()
    return client


@pytest.mark.parametrize("host", ["example.org", "xn--bcher-kva.example", "1.2.3.4", "2606:4700::1111"])
def test_a_strict_client_accepts_a_certificate_of_the_host(made: tuple[Authority, str], host: str) -> None:
    authority, certificate = made
    assert handshake(authority.context(host), certificate, host).version() == "TLSv1.3"


def test_another_name_by_sni_is_refused(made: tuple[Authority, str]) -> None:
    authority, certificate = made
    with pytest.raises(ssl.SSLError, match="CALLBACK_FAILED"):
        handshake(authority.context("example.org"), certificate, "evil.test")


def test_a_client_without_sni_is_served(made: tuple[Authority, str]) -> None:
    authority, certificate = made
    assert handshake(authority.context("example.org"), certificate, None).version()


def test_the_authority_of_another_sandbox_is_not_trusted(made: tuple[Authority, str]) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(made[0].context("example.org"), new_authority("another")[1], "example.org")


def test_contexts_are_kept_and_their_number_is_limited(made: tuple[Authority, str]) -> None:
    authority = made[0]
    first = authority.context("first.test")
    assert authority.context("first.test") is first
    for number in range(CONTEXTS):
        authority.context(f"h{number}.test")
    assert authority.context("first.test") is not first
