"""A separate certificate for each start of a runtime. For connections to the runtime's pod, the gateway trusts only
this certificate."""

from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from hawse_gateway.core.certificates import certificate_builder, certificate_pem, common_name, private_pem


class RuntimeCertificate(NamedTuple):
    """A self-signed certificate.

    Attributes:
        certificate: The certificate, in PEM. It is not secret.
        with_key: The key and the certificate, in PEM.
    """

    certificate: str
    with_key: str


def make_certificate(name: str) -> RuntimeCertificate:
    """Create a certificate. Takes about 0.2 ms.

    Args:
        name: The display name, 1 to 64 characters.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = common_name(name)
    builder = certificate_builder(subject, subject, key.public_key())
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    pem = certificate_pem(builder.sign(key, hashes.SHA256()))
    return RuntimeCertificate(pem, private_pem(key) + pem)
