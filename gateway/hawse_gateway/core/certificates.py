"""What the certificates of a gateway have in common: those of egress proxies, and those of runtimes in pods."""

from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

EARLY: Final = timedelta(days=1)  # the clock of a node may be behind, and a program may set its clock back
LIFETIME: Final = timedelta(days=3650)  # what it is for ends earlier, but may run for years
COMMON_NAME_MAX: Final = 64  # characters (RFC 5280, ub-common-name)


def common_name(text: str) -> x509.Name:
    """Return a name for people, of which the first `COMMON_NAME_MAX` characters are used."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:COMMON_NAME_MAX])])


def certificate_builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    """Return what a certificate begins with: names, key, a random number, its lifetime and SubjectKeyIdentifier.

    Args:
        subject: Whose certificate it is.
        issuer: Who signs it.
        key: The key of the subject.
    """
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLY)
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def private_pem(key: ec.EllipticCurvePrivateKey) -> str:
    """Return a key in PEM, not encrypted."""
    form, encoding = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    return key.private_bytes(encoding, form, serialization.NoEncryption()).decode()


def certificate_pem(certificate: x509.Certificate) -> str:
    """Return a certificate in PEM."""
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
