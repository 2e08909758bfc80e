"""The input for a sandbox's proxy: JSON on standard input, which keeps secrets out of files and arguments."""

from pathlib import Path
from typing import Final

import msgspec

from hawse.api.egress import EgressPolicy
from hawse_gateway.egress.secrets import Secret

SOCKET_NAME: Final = "egress.sock"  # Unix socket where the runtime hands over its listening socket
CONTROL_NAME: Final = "control.sock"  # Unix socket in the proxy's directory for requests from gateways
KEY_NAME: Final = "ca.key"
CERTIFICATE_NAME: Final = "ca.pem"
READY: Final = b"ready\n"
PORT: Final = 3128  # the proxy's port on a sandbox's loopback interface
CERTIFICATES: Final = "/etc/hawse-certificates.pem"  # the certificates that programs in a sandbox trust
SYSTEM_CERTIFICATES: Final = "/etc/ssl/certs/ca-certificates.crt"  # path on Debian and most other distributions
# Environment variables that set the path of trusted certificates for OpenSSL, Python, curl, git, Node, Rust, Deno and
# AWS.
CERTIFICATE_VARIABLES: Final = (
    "SSL_CERT_FILE REQUESTS_CA_BUNDLE PIP_CERT CURL_CA_BUNDLE GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS CARGO_HTTP_CAINFO "
    "DENO_CERT AWS_CA_BUNDLE"
).split()


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The terms for requests. They can be replaced while the proxy is running.

    Attributes:
        policy: The rules.
        secrets: The secrets named in the policy.
        networks: Non-public networks permitted by the operator.
        addresses: Fixed addresses, keyed by name. These names are not looked up.
        trusted: Additional certificates to trust for servers, in PEM.
    """

    policy: EgressPolicy
    secrets: list[Secret] = []
    networks: list[str] = []
    addresses: dict[str, str] = {}
    trusted: str = ""


class EgressPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of one proxy.

    Attributes:
        folder: The directory for its files, including the sandbox's certificate authority.
        socket: The path of the Unix socket where the proxy receives the runtime's listening socket.
        socket_user: The runtime's user, who may connect to `socket`. Default: this process's user.
        user: If running as root, the user to switch to after opening all files. None keeps the current user.
        cgroup: Descriptors of cgroup files. The proxy writes "0" to them to join the cgroups.
        terms: The initial terms.
    """

    folder: str
    socket: str
    socket_user: int | None = None
    user: int | None = None
    cgroup: list[int] = []
    terms: Terms


def proxy_variables() -> dict[str, str]:
    """Return environment variables that make programs in a sandbox use the proxy and trust its authority."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
    direct = dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
    node = {"NODE_USE_ENV_PROXY": "1"}  # without this variable, Node's fetch() ignores proxies
    proxy, trusted = f"http://127.0.0.1:{PORT}", dict.fromkeys(CERTIFICATE_VARIABLES, CERTIFICATES)
    return {**dict.fromkeys(names, proxy), **direct, **node, **trusted}


def trusted_certificates(authority: str) -> bytes:
    """Return the certificates to trust in a sandbox, in PEM: the certificates that this machine trusts, and the
    authority's.

    Args:
        authority: The certificate of the sandbox's certificate authority.
    """
    system = Path(SYSTEM_CERTIFICATES)
    return (system.read_bytes().rstrip() if system.is_file() else b"") + b"\n" + authority.encode()
