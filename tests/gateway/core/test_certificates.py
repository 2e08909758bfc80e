"""What the certificates of proxies and of pods have in common."""

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from hawse_gateway.core.certificates import (
    COMMON_NAME_MAX,
    certificate_builder,
    certificate_pem,
    common_name,
    private_pem,
)


def test_a_certificate_is_valid_now_and_names_its_key() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    builder = certificate_builder(common_name("one"), common_name("other"), key.public_key())
    made = x509.load_pem_x509_certificate(certificate_pem(builder.sign(key, hashes.SHA256())).encode())
    assert (made.subject.rfc4514_string(), made.issuer.rfc4514_string()) == ("CN=one", "CN=other")
    now = datetime.now(UTC)
    assert made.not_valid_before_utc < now - timedelta(hours=1)
    assert made.not_valid_after_utc > now + timedelta(days=365)
    identifier = made.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    assert identifier == x509.SubjectKeyIdentifier.from_public_key(key.public_key())


def test_two_certificates_have_different_numbers() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    builders = [certificate_builder(common_name("a"), common_name("a"), key.public_key()) for _ in range(2)]
    assert len({each.sign(key, hashes.SHA256()).serial_number for each in builders}) == 2


def test_a_long_name_is_cut() -> None:
    assert common_name("x" * 100) == common_name("x" * COMMON_NAME_MAX)


def test_a_key_can_be_read_again() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    read = serialization.load_pem_private_key(private_pem(key).encode(), None)
    assert isinstance(read, ec.EllipticCurvePrivateKey)
    assert read.public_key() == key.public_key()
