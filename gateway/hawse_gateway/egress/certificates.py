"""A sandbox's certificate authority, which issues certificates for the hosts that programs connect to."""

import os
import ssl
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from hawse_gateway.core.certificates import certificate_builder, certificate_pem, common_name, private_pem
from hawse_gateway.egress.addresses import address_of

CONTEXTS: Final = 256  # maximum number of cached server contexts; each takes about 30 KB


def new_authority(name: str) -> tuple[str, str]:
    """Create an authority, and return its key and certificate, both in PEM.

    Args:
        name: The authority's display name.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    subject = common_name(name)
    usage = _usage(digital_signature=False, key_cert_sign=True, crl_sign=True)
    builder = certificate_builder(subject, subject, key.public_key()).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), True
    )
    certificate = builder.add_extension(usage, True).sign(key, hashes.SHA256())
    return private_pem(key), certificate_pem(certificate)


class Authority:
    """Creates TLS contexts for servers. Not thread-safe.

    Args:
        key: The authority's key, in PEM.
        certificate: The authority's certificate, in PEM.

    Raises:
        ValueError: The key or the certificate is unreadable, or they do not match.
    """

    def __init__(self, key: str, certificate: str) -> None:
        loaded = serialization.load_pem_private_key(key.encode(), None)
        if not isinstance(loaded, ec.EllipticCurvePrivateKey):
            raise ValueError("the key has the wrong type")  # noqa: TRY004  # it is content of a file
        self._key = loaded
        self._certificate = x509.load_pem_x509_certificate(certificate.encode())
        if self._certificate.public_key() != loaded.public_key():
            raise ValueError("the certificate does not match the key")
        self._leaf = ec.generate_private_key(ec.SECP256R1())
        self._contexts: OrderedDict[str, ssl.SSLContext] = OrderedDict()

    def context(self, host: str) -> ssl.SSLContext:
        """Return the TLS context for the normalized `host`. The context refuses any other server name (SNI)."""
        if (known := self._contexts.get(host)) is not None:
            self._contexts.move_to_end(host)
            return known
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.sni_callback = _only(host)
        with open(os.memfd_create("leaf"), "wb") as file:  # OpenSSL can only load keys from files
            file.write((private_pem(self._leaf) + self._certificate_of(host)).encode())
            file.flush()
            context.load_cert_chain(f"/proc/self/fd/{file.fileno()}")
        self._contexts[host] = context
        if len(self._contexts) > CONTEXTS:
            self._contexts.popitem(last=False)
        return context

    def _certificate_of(self, host: str) -> str:
        address = address_of(host)
        name = x509.DNSName(host) if address is None else x509.IPAddress(address)
        subject = common_name("hawse")
        builder = certificate_builder(subject, self._certificate.subject, self._leaf.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
        builder = builder.add_extension(_usage(digital_signature=True, key_cert_sign=False, crl_sign=False), True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
        builder = builder.add_extension(x509.SubjectAlternativeName([name]), False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        made = builder.add_extension(issuer, False).sign(self._key, hashes.SHA256())
        return certificate_pem(made)


def _only(host: str) -> Callable[[ssl.SSLObject | ssl.SSLSocket, str | None, ssl.SSLContext], int | None]:
    def check(_: object, name: str | None, __: ssl.SSLContext) -> int | None:
        same = name is None or name.lower().removesuffix(".") == host
        return None if same else ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME

    return check


def _usage(*, digital_signature: bool, key_cert_sign: bool, crl_sign: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        encipher_only=False,
        decipher_only=False,
    )
