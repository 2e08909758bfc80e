"""TLS for a runtime that listens on TCP. Each run has a new certificate, which is the only one that gateways trust."""

import os
import ssl


def server_context(pem: str) -> ssl.SSLContext:
    """Return an SSL context for a server.

    Args:
        pem: The private key and the certificate.

    Raises:
        ValueError: `pem` is not a private key with its certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    fd = os.memfd_create("certificate")  # OpenSSL reads only files, but the key must stay out of the sandbox's files
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(pem.encode())
        try:
            context.load_cert_chain(f"/proc/self/fd/{fd}")
        except ssl.SSLError as error:
            raise ValueError(f"invalid key or certificate: {error.reason or error}") from error
    finally:
        os.close(fd)
    return context
