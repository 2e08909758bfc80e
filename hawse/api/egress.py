"""Egress: the hosts that programs in a sandbox with the `filtered` network can reach, through a proxy outside the
sandbox.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from hawse.api.spec import Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import Id

RULES_MAX: Final = 256
SECRETS_MAX: Final = 32

# `[METHOD,METHOD ]HOST[:PORT]`. HOST is a name, `*.NAME` (every name below it), `*`, or an address; IPv6 addresses are
# in brackets.
EgressRule = Annotated[str, Meta(min_length=1, max_length=400)]
EgressRules = Annotated[list[EgressRule], Meta(max_length=RULES_MAX)]
SecretNames = Annotated[list[Id], Meta(max_length=SECRETS_MAX)]
# The reasons for refusing a request.
EgressReason = Literal["rule", "method", "address", "name", "mismatch", "protocol", "upgrade", "encoding"]


class EgressPolicy(ParamsValue, kw_only=True, omit_defaults=True):
    """Rules for connections. A host is refused unless a rule allows it.

    Attributes:
        allow: Rules `[METHODS ]HOST[:PORT]`, such as `GET,HEAD *.example.org:443`. Without a port, a rule applies to
            ports 80 and 443.
        deny: Rules in the same format, which take precedence over `allow`. Without a port, a rule applies to all ports.
        secrets: Names of the gateway's secrets that the proxy adds to requests.
    """

    allow: EgressRules = msgspec.field(default_factory=list)
    deny: EgressRules = msgspec.field(default_factory=list)
    secrets: SecretNames = msgspec.field(default_factory=list)


class EgressRefusal(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A program's request that the proxy refused.

    Attributes:
        time: When it was sent, in seconds since 1970.
        reason: Why it was refused; docs/guides/egress.md explains each value.
        host: The host, if known; at most 253 characters.
        port: The port; 0 if unknown.
        method: The method; `WEBSOCKET` for a WebSocket handshake; empty if unknown.
    """

    time: float
    reason: EgressReason
    host: str = ""
    port: int = 0
    method: str = ""


class EgressRequest(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A program's request and the proxy's decision.

    Attributes:
        time: When it was sent, in seconds since 1970.
        allowed: Whether it was forwarded.
        reason: Why it was refused; null if it was forwarded.
        host: The host, if known; at most 253 characters.
        port: The port; 0 if unknown.
        method: The method; `WEBSOCKET` for a WebSocket handshake; empty if unknown.
    """

    time: float
    allowed: bool = False
    reason: EgressReason | None = None
    host: str = ""
    port: int = 0
    method: str = ""


class EgressLost(Reply, frozen=True, kw_only=True):
    """Refusals that were not reported because the client was too slow.

    Attributes:
        count: Number of refusals missed since the previous event.
    """

    count: int


class EgressInfo(Reply, frozen=True, kw_only=True, omit_defaults=True):
    """A sandbox's egress rules, and its proxy's statistics since startup.

    Attributes:
        id: Id of the sandbox.
        filtered: Whether its network is `filtered`. If not, there is no proxy.
        allow: Rules for allowed connections.
        deny: Rules for refused connections, which take precedence over `allow`.
        secrets: Names of the secrets added to requests.
        withheld: Names of secrets in its policy that are no longer added to requests because its user may not use them.
        running: Whether its proxy is running. If not, the fields below are 0 or empty.
        connections: Number of open connections from programs to the proxy.
        requests: Number of requests forwarded.
        refused: Number of requests refused.
        sent: Size of the request content sent, in bytes.
        received: Size of the response content received, in bytes.
        cpu: Processor time used by the proxy, in seconds.
        memory: The proxy's resident memory, in bytes.
        recent: The latest refusals, newest last. Older ones are in the audit log.
    """

    id: str
    filtered: bool = False
    allow: list[str] = msgspec.field(default_factory=list)
    deny: list[str] = msgspec.field(default_factory=list)
    secrets: list[str] = msgspec.field(default_factory=list)
    withheld: list[str] = msgspec.field(default_factory=list)
    running: bool = False
    connections: int = 0
    requests: int = 0
    refused: int = 0
    sent: int = 0
    received: int = 0
    cpu: float = 0.0
    memory: int = 0
    recent: list[EgressRefusal] = msgspec.field(default_factory=list)


@method("egress.get", safe=True, sandbox=False, target="id", raises=("not_found",))
class EgressGet(Params[EgressInfo], kw_only=True):
    """Return a sandbox's egress rules and latest refusals, without starting the sandbox.

    Args:
        id: Id of the sandbox.
    """

    id: Id


@method("egress.set", sandbox=False, target="id", names="id", raises=("not_found", "forbidden"))
class EgressSet(Params[EgressInfo], kw_only=True):
    """Replace the egress rules for a sandbox that uses the `filtered` network. The sandbox can be running.

    When the call returns, the new rules apply to new connections, and open connections that they do not allow are
    closed. If the sandbox is running but its proxy cannot be reached, the rules are stored and the error is
    `unavailable`.

    Args:
        id: Id of the sandbox.
        allow: Rules `[METHODS ]HOST[:PORT]` for allowed connections.
        deny: Rules in the same format, which take precedence over `allow`.
        secrets: Names of the gateway's secrets to add to requests; null leaves them unchanged.
    """

    id: Id
    allow: EgressRules
    deny: EgressRules = msgspec.field(default_factory=list)
    secrets: SecretNames | None = None


@method(
    "egress.watch",
    sandbox=False,
    target="id",
    audit=False,
    events={"request": EgressRequest, "lost": EgressLost, "live": Nothing},
    raises=("not_found", "limit_exceeded"),
)
class EgressWatch(Params[Nothing], kw_only=True):
    """Report requests from a sandbox's programs as its proxy allows or refuses them.

    The latest refusals are sent first, then `live`, then each new refusal. `lost` reports how many refusals a slow
    client has missed. The call continues even if the sandbox is stopped and restarted, until the caller cancels it or
    the sandbox is deleted.

    Args:
        id: Id of the sandbox.
        allowed: Whether to report allowed requests as well.
    """

    id: Id
    allowed: bool = False
