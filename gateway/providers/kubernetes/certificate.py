"""The certificate of one start of a runtime: the gateway trusts it, and nothing else, at the address of the pod."""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

EARLY: Final = timedelta(days=1)  # the clock of a node may be behind
LIFETIME: Final = timedelta(days=3650)  # it ends with its runtime, which may run for years


class RuntimeCertificate(NamedTuple):
    """A self-signed certificate.

    Attributes:
        certificate: In PEM. It is no secret.
        with_key: The key and the certificate, in PEM.
    """

    certificate: str
    with_key: str


def make_certificate(name: str) -> RuntimeCertificate:
    """Make a certificate, in about 0.2 ms.

    Args:
        name: For people who look at it: 1 to 64 characters.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLY)
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM).decode()
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return RuntimeCertificate(pem, secret.decode() + pem)
