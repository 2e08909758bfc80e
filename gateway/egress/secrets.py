"""Secrets that the proxy adds to requests for matching hosts, over TLS only. Programs never have them."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import quote, unquote_plus

import msgspec
from msgspec import Meta

from gateway.egress.rules import Rule

Headers = list[tuple[bytes, bytes]]


class Secret(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A secret, with its value.

    Attributes:
        hosts: Rules (`gateway.egress.rules`) of the requests that get it.
        into: Where it is put: a header, HTTP basic authentication, or a parameter of the query.
        name: The name of the header or the parameter; the user of basic authentication.
        value: The value.
        prefix: What precedes it in the header.
    """

    hosts: Annotated[list[str], Meta(min_length=1, max_length=64)]
    into: Literal["header", "basic", "query"]
    name: str
    value: str
    prefix: str = ""

    def __repr__(self) -> str:
        return f"Secret(hosts={self.hosts!r}, into={self.into!r}, name={self.name!r})"


@dataclass(frozen=True)
class Injected:
    """A request with its secrets.

    Attributes:
        target: The path and the query.
        headers: The headers.
        hidden: What the answer must not contain. Empty: no secret was added.
    """

    target: bytes
    headers: Headers
    hidden: tuple[bytes, ...] = ()


class Injector:
    """Adds the secrets of one sandbox. Raises `ValueError` for a rule that is not valid."""

    def __init__(self, secrets: Sequence[Secret]) -> None:
        self._secrets = [(secret, [Rule.parse(text) for text in secret.hosts]) for secret in secrets]

    def has(self, hidden: Sequence[bytes]) -> bool:
        """Whether all secrets of a request are still among these: what `Injected.hidden` says of it."""
        known = {text for secret, _ in self._secrets for text in _forms(secret)}
        return known.issuperset(hidden)

    def inject(self, host: str, port: int, method: str, target: bytes, headers: Headers) -> Injected:
        """Return the request with the secrets of its host. What a program put in their place is replaced.

        Args:
            host: The host, as `normalized` returns it.
            port: Its port.
            method: The method.
            target: The path and the query.
            headers: The headers, with names in lower case.
        """
        hidden: list[bytes] = []
        for secret, rules in self._secrets:
            if not any(rule.is_about(host, port, method) for rule in rules):
                continue
            if secret.into == "query":
                target = _with_parameter(target, secret.name, secret.value)
                hidden += _forms(secret)
                continue
            name, value = secret.name.lower().encode(), (secret.prefix + secret.value).encode()
            if secret.into == "basic":
                name, value = b"authorization", b"Basic " + _basic(secret)
            hidden += _forms(secret)
            headers = [*(field for field in headers if field[0] != name), (name, value)]
        if hidden:  # of a compressed answer it could not be seen what it contains
            headers = [
                *(field for field in headers if field[0] != b"accept-encoding"),
                (b"accept-encoding", b"identity"),
            ]
            # Extensions of a WebSocket compress its messages.
            headers = [field for field in headers if field[0] != b"sec-websocket-extensions"]
        return Injected(target, headers, tuple(dict.fromkeys(hidden)))


def _forms(secret: Secret) -> list[bytes]:
    """Return the texts by which a secret could be recognized in an answer."""
    forms = [secret.value.encode()]
    if secret.into == "query":
        forms.append(quote(secret.value, safe="").encode())
    elif secret.into == "basic":
        forms.append(_basic(secret))
    return forms


def _basic(secret: Secret) -> bytes:
    return base64.b64encode(f"{secret.name}:{secret.value}".encode())


def _with_parameter(target: bytes, name: str, value: str) -> bytes:
    path, _, query = target.partition(b"?")
    kept = [
        part for part in query.split(b"&") if part and unquote_plus(part.partition(b"=")[0].decode("latin-1")) != name
    ]
    own = f"{quote(name, safe='')}={quote(value, safe='')}".encode()
    return path + b"?" + b"&".join([*kept, own])
