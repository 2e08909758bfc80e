"""TLS connections to a server whose certificate is known, such as a runtime in another machine."""

import ssl


def pinned_context(certificate: str) -> ssl.SSLContext:
    """Return the context of a client that trusts one certificate and no other.

    Args:
        certificate: In PEM. It has no name: it is of one server, wherever that is.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.load_verify_locations(cadata=certificate)
    return context
