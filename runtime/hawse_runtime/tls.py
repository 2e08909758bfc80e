"""TLS for a runtime that listens on TCP. Its certificate is created for one start, and gateways trust no other."""

import os
import ssl


def server_context(pem: str) -> ssl.SSLContext:
    """Return the context of a server.

    Args:
        pem: Its key and its certificate.

    Raises:
        ValueError: The text is not a key with its certificate.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    fd = os.memfd_create("certificate")  # OpenSSL reads files only, and the key must not be in a file of the sandbox
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
