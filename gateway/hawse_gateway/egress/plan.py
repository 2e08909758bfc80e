"""What the proxy of a sandbox is started with: JSON on its standard input, so that no file and no argument has it."""

from pathlib import Path
from typing import Final

import msgspec

from hawse.api.egress import EgressPolicy
from hawse_gateway.egress.secrets import Secret

SOCKET_NAME: Final = "egress.sock"  # in the directory that the runtime sees: it hands over its listening socket there
CONTROL_NAME: Final = "control.sock"  # in the proxy's own directory: the gateway asks what was refused
KEY_NAME: Final = "ca.key"
CERTIFICATE_NAME: Final = "ca.pem"
READY: Final = b"ready\n"
PORT: Final = 3128  # of the proxy, on the loopback interface of a sandbox
CERTIFICATES: Final = "/etc/hawse-certificates.pem"  # the certificates that programs trust, in a sandbox
SYSTEM_CERTIFICATES: Final = "/etc/ssl/certs/ca-certificates.crt"  # those of Debian and most other distributions
# What programs read the place of trusted certificates from: OpenSSL, Python, curl, git, Node, Rust, Deno, AWS.
CERTIFICATE_VARIABLES: Final = (
    "SSL_CERT_FILE REQUESTS_CA_BUNDLE PIP_CERT CURL_CA_BUNDLE GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS CARGO_HTTP_CAINFO "
    "DENO_CERT AWS_CA_BUNDLE"
).split()


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What decides about requests. It may be replaced while the proxy runs.

    Attributes:
        policy: The rules.
        secrets: The secrets that the policy names.
        networks: Networks that are not public and that the operator permits.
        addresses: Addresses of names that are not looked up.
        trusted: More certificates, in PEM, that servers may prove to own.
    """

    policy: EgressPolicy
    secrets: list[Secret] = []
    networks: list[str] = []
    addresses: dict[str, str] = {}
    trusted: str = ""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of one proxy.

    Attributes:
        folder: The directory of its own files, with the authority of the sandbox.
        socket: The path at which it gets the listening socket of the runtime.
        socket_user: The user of the runtime, who may connect there. None: that of this process.
        user: What the superuser becomes when everything is open. None: nobody else.
        cgroup: Descriptors of files of its cgroups, to which it writes "0" to be in them.
        terms: What decides about requests at the beginning.
    """

    folder: str
    socket: str
    socket_user: int | None = None
    user: int | None = None
    cgroup: list[int] = []
    terms: Terms


def proxy_variables() -> dict[str, str]:
    """Return the variables by which programs in a sandbox find the proxy, and trust its authority."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
    direct = dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
    node = {"NODE_USE_ENV_PROXY": "1"}  # its fetch() uses a proxy only then
    proxy, trusted = f"http://127.0.0.1:{PORT}", dict.fromkeys(CERTIFICATE_VARIABLES, CERTIFICATES)
    return {**dict.fromkeys(names, proxy), **direct, **node, **trusted}


def trusted_certificates(authority: str) -> bytes:
    """Return what programs in a sandbox trust: the certificates of this machine, and the authority, all in PEM.

    Args:
        authority: The certificate of the authority of the sandbox.
    """
    system = Path(SYSTEM_CERTIFICATES)
    return (system.read_bytes().rstrip() if system.is_file() else b"") + b"\n" + authority.encode()
