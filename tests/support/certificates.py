"""Certificates for tests: an authority that issues certificates for 127.0.0.1 and localhost."""

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


class Authority:
    """Issues certificates. `path` is its own certificate, which clients trust."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        own = self._builder(self._name, self._key.public_key())
        certificate = own.add_extension(constraints, critical=True).add_extension(usage, critical=True)
        self.path = directory / "ca.pem"
        self.path.write_bytes(_pem(certificate.sign(self._key, hashes.SHA256())))

    def issue(self, name: str) -> tuple[Path, Path]:
        """Write a certificate with the common name `name`, and its key; return both paths. The files are replaced."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        builder = self._builder(subject, key.public_key())
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = builder.add_extension(identifier, critical=False).sign(self._key, hashes.SHA256())
        paths = self._directory / "cert.pem", self._directory / "key.pem"
        _replace(paths[0], _pem(certificate))
        _replace(paths[1], private_key(key))
        return paths

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        )


def private_key(key: ec.EllipticCurvePrivateKey, passphrase: bytes = b"") -> bytes:
    """Return a key as PEM."""
    encryption = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)


def common_name(certificate: bytes) -> str:
    """Return the common name in a certificate from `getpeercert(True)`."""
    subject = x509.load_der_x509_certificate(certificate).subject
    return str(subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


def served_name(client: ssl.SSLObject) -> str:
    """Return the common name of the server that a client is connected to."""
    found = client.getpeercert(True)
    assert found is not None
    return common_name(found)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _replace(path: Path, data: bytes) -> None:
    part = path.with_suffix(".part")
    part.write_bytes(data)
    part.replace(path)
