import ssl
from datetime import UTC, datetime, timedelta

from cryptography import x509

from hawse_gateway.providers.kubernetes.certificate import make_certificate


def test_a_certificate_is_of_one_start_and_valid_while_a_runtime_may_run() -> None:
    one, other = make_certificate("hawse box"), make_certificate("hawse box")
    assert one.certificate != other.certificate
    found = x509.load_pem_x509_certificate(one.certificate.encode())
    assert found.subject.rfc4514_string() == "CN=hawse box"
    now = datetime.now(UTC)
    assert found.not_valid_before_utc < now - timedelta(hours=1)
    assert found.not_valid_after_utc > now + timedelta(days=365)


def test_only_the_second_text_contains_the_key() -> None:
    made = make_certificate("box")
    assert "PRIVATE KEY" not in made.certificate
    assert made.with_key.endswith(made.certificate)
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=made.certificate)
