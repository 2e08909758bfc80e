"""The input of a sandbox's proxy: JSON on standard input, so that it is in no file and no argument."""

from pathlib import Path
from typing import Final

import msgspec

from hawse.api.egress import EgressPolicy
from hawse_gateway.egress.secrets import Secret

SOCKET_NAME: Final = "egress.sock"  # in the runtime's directory: the runtime hands over its listening socket there
CONTROL_NAME: Final = "control.sock"  # in the proxy's own directory: the gateway asks for refusals there
KEY_NAME: Final = "ca.key"
CERTIFICATE_NAME: Final = "ca.pem"
READY: Final = b"ready\n"
PORT: Final = 3128  # of the proxy, on the loopback interface of a sandbox
CERTIFICATES: Final = "/etc/hawse-certificates.pem"  # the certificates that programs in a sandbox trust
SYSTEM_CERTIFICATES: Final = "/etc/ssl/certs/ca-certificates.crt"  # on Debian and most others
# Variables with the path of trusted certificates: OpenSSL, Python, curl, git, Node, Rust, Deno, AWS.
CERTIFICATE_VARIABLES: Final = (
    "SSL_CERT_FILE REQUESTS_CA_BUNDLE PIP_CERT CURL_CA_BUNDLE GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS CARGO_HTTP_CAINFO "
    "DENO_CERT AWS_CA_BUNDLE"
).split()


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The terms that requests are checked against. They can be replaced while the proxy runs.

    Attributes:
        policy: The rules.
        secrets: The secrets named in the policy.
        networks: Non-public networks permitted by the operator.
        addresses: Addresses of names that are not looked up.
        trusted: Additional trusted certificates of servers, in PEM.
    """

    policy: EgressPolicy
    secrets: list[Secret] = []
    networks: list[str] = []
    addresses: dict[str, str] = {}
    trusted: str = ""


class EgressPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of one proxy.

    Attributes:
        folder: The directory of its files, including the sandbox's certificate authority.
        socket: The path where it receives the runtime's listening socket.
        socket_user: The user of the runtime, who may connect there. Default: this process's user.
        user: The user that the superuser switches to once everything is open. None keeps the current user.
        cgroup: Descriptors of cgroup files. The proxy joins these cgroups by writing "0".
        terms: The initial terms.
    """

    folder: str
    socket: str
    socket_user: int | None = None
    user: int | None = None
    cgroup: list[int] = []
    terms: Terms


def proxy_variables() -> dict[str, str]:
    """Return the variables that make programs in a sandbox use the proxy and trust its authority."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
    direct = dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1")
    node = {"NODE_USE_ENV_PROXY": "1"}  # otherwise its fetch() ignores proxies
    proxy, trusted = f"http://127.0.0.1:{PORT}", dict.fromkeys(CERTIFICATE_VARIABLES, CERTIFICATES)
    return {**dict.fromkeys(names, proxy), **direct, **node, **trusted}


def trusted_certificates(authority: str) -> bytes:
    """Return the certificates trusted by programs in a sandbox: this machine's, and the authority's, in PEM.

    Args:
        authority: The certificate of the sandbox's authority.
    """
    system = Path(SYSTEM_CERTIFICATES)
    return (system.read_bytes().rstrip() if system.is_file() else b"") + b"\n" + authority.encode()
