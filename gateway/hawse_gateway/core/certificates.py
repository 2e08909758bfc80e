"""Certificate helpers for egress proxies and for runtimes in pods."""

from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

EARLY: Final = timedelta(days=1)  # backdates certificates, because clocks on nodes and in sandboxes can be slow
LIFETIME: Final = timedelta(days=3650)  # more than the lifetime of any sandbox or pod
COMMON_NAME_MAX: Final = 64  # maximum number of characters (RFC 5280, ub-common-name)


def common_name(text: str) -> x509.Name:
    """Return an X.509 name whose common name consists of the first `COMMON_NAME_MAX` characters of `text`."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:COMMON_NAME_MAX])])


def certificate_builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    """Return a certificate builder with names, key, a random serial number, lifetime and SubjectKeyIdentifier.

    Args:
        subject: The subject's name.
        issuer: The signer's name.
        key: The subject's key.
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
    """Return a key as unencrypted PEM."""
    form, encoding = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    return key.private_bytes(encoding, form, serialization.NoEncryption()).decode()


def certificate_pem(certificate: x509.Certificate) -> str:
    """Return a certificate as PEM."""
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
