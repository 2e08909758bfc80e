"""Decides whether a program's request may leave the sandbox. No I/O."""

import re
from dataclasses import dataclass
from typing import Final

from hawse.api.egress import EgressPolicy, EgressReason
from hawse_gateway.egress.addresses import normalized

PORT_MAX: Final = 65_535
# Methods are case-sensitive (RFC 9110, section 9.1), but many servers ignore case. Requests with any other method are
# refused, so that rules and servers never interpret a method differently.
METHOD: Final = r"[A-Z](?:[A-Z-]{0,30}[A-Z])?"
_FORM: Final = re.compile(
    rf"(?:(?P<methods>{METHOD}(?:,{METHOD}){{0,15}}) )?"
    r"(?P<host>\*|(?:\*\.)?[A-Za-z0-9_.-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])"
    r"(?::(?P<port>\*|[1-9][0-9]{0,4}))?"
)
PORTS: Final = frozenset((80, 443))  # the ports for an `allow` rule without ports
# CONNECT requests a tunnel to another server, and TRACE returns the request with its secrets.
NEVER: Final = frozenset(("CONNECT", "TRACE", "TRACK"))


@dataclass(frozen=True)
class Rule:
    """A rule.

    Attributes:
        host: A name or an address in the form returned by `normalized`, or `*.NAME`, or `*`.
        ports: The ports it applies to. None means all ports.
        methods: The methods it applies to. None means all methods.
    """

    host: str
    ports: frozenset[int] | None = PORTS
    methods: frozenset[str] | None = None

    @classmethod
    def parse(cls, text: str, default: frozenset[int] | None = PORTS) -> "Rule":
        """Parse `[METHODS ]HOST[:PORT]`.

        Args:
            text: The rule as text.
            default: The ports for a rule without ports. None means all ports.

        Raises:
            ValueError: The text is not a valid rule.
        """
        found = _FORM.fullmatch(text)
        if found is None:
            raise ValueError(f"{text[:80]!r} is not a rule such as *.example.org:443 or 'GET,HEAD example.org'")
        methods, host, port = found["methods"], found["host"], found["port"]
        ports = default if port is None else None if port == "*" else frozenset((int(port),))
        if ports is not None and max(ports) > PORT_MAX:
            raise ValueError(f"{text!r}: a port is a number from 1 to {PORT_MAX}, or *")
        if host.startswith("*."):
            host = "*." + normalized(host[2:])
        elif host != "*":
            host = normalized(host)
        return cls(host, ports, None if methods is None else frozenset(methods.split(",")))

    def covers(self, host: str, port: int) -> bool:
        """Return whether the rule matches a host and a port."""
        if self.ports is not None and port not in self.ports:
            return False
        return self.host in ("*", host) or (self.host.startswith("*.") and host.endswith(self.host[1:]))

    def is_about(self, host: str, port: int, method: str) -> bool:
        """Return whether the rule matches a request."""
        return self.covers(host, port) and (self.methods is None or method in self.methods)


class Rules:
    """One sandbox's rules. Raises `ValueError` for an invalid rule."""

    def __init__(self, policy: EgressPolicy) -> None:
        self._allow = [Rule.parse(text) for text in policy.allow]
        self._deny = [Rule.parse(text, None) for text in policy.deny]

    def refuse_connection(self, host: str, port: int) -> EgressReason | None:
        """Return the reason why all requests to a host are refused, or None if some of them are allowed.

        Args:
            host: The host, as returned by `normalized`.
            port: The port.
        """
        if any(rule.methods is None and rule.covers(host, port) for rule in self._deny):
            return "rule"
        return None if any(rule.covers(host, port) for rule in self._allow) else "rule"

    def refuse_request(self, host: str, port: int, method: str) -> EgressReason | None:
        """Return the reason why a request is refused, or None if it is allowed."""
        if (reason := self.refuse_connection(host, port)) is not None:
            return reason
        if method in NEVER or any(rule.is_about(host, port, method) for rule in self._deny):
            return "method"
        return None if any(rule.is_about(host, port, method) for rule in self._allow) else "method"
