"""TLS for connections to a server with a known certificate, such as a runtime on another machine."""

import ssl


def pinned_context(certificate: str) -> ssl.SSLContext:
    """Return a TLS client context that trusts exactly one certificate.

    Args:
        certificate: The certificate, in PEM. The certificate identifies the server at any address, so host names are
            not checked.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.load_verify_locations(cadata=certificate)
    return context
