"""Adds secrets to matching requests sent over TLS. Programs in the sandbox never see the secrets."""

import base64
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal
from urllib.parse import quote, quote_plus, unquote_plus

import msgspec
from msgspec import Meta

from hawse_gateway.egress.rules import Rule

Headers = list[tuple[bytes, bytes]]

# Headers to remove because they request compressed content, another character set or only part of the content. Secrets
# would not be found in such responses. See RFC 9110 (sections 12.5 and 14), RFC 3229 and RFC 6455 (section 9). Apache
# and Azure have their own names for Range.
FORMS_ASKED: Final = frozenset(
    b"accept-encoding accept-charset a-im range if-range request-range x-range x-ms-range "
    b"sec-websocket-extensions".split()
)


class Secret(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A secret along with its value.

    Attributes:
        hosts: Rules (`hawse_gateway.egress.rules`) that select the requests to add the secret to.
        into: Where to add the secret: a header, HTTP basic authentication, or a query parameter.
        name: The name of the header or parameter, or the user name for basic authentication.
        value: The value.
        prefix: Text that precedes the value in the header.
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
    """A request with secrets added.

    Attributes:
        target: The path and the query.
        headers: The headers.
        hidden: The strings to mask in the response. Empty if no secret was added.
    """

    target: bytes
    headers: Headers
    hidden: tuple[bytes, ...] = ()


class Injector:
    """One sandbox's secrets. Raises `ValueError` for an invalid rule."""

    def __init__(self, secrets: Sequence[Secret]) -> None:
        self._secrets = [(secret, [Rule.parse(text) for text in secret.hosts]) for secret in secrets]

    def has(self, hidden: Sequence[bytes]) -> bool:
        """Return whether all secrets in a request's `Injected.hidden` are still in use."""
        known = {text for secret, _ in self._secrets for text in _forms(secret)}
        return known.issuperset(hidden)

    def inject(self, host: str, port: int, method: str, target: bytes, headers: Headers) -> Injected:
        """Return a request with the secrets for its host added. Secrets replace the program's headers and parameters.

        Args:
            host: The host, as returned by `normalized`.
            port: The port.
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
        if hidden:
            kept = [field for field in headers if dashed(field[0]) not in FORMS_ASKED]
            headers = [*kept, (b"accept-encoding", b"identity")]
        return Injected(target, headers, tuple(dict.fromkeys(hidden)))


def dashed(name: bytes) -> bytes:
    """Return a header's name as seen by programs that use CGI or WSGI, which can't distinguish `_` from `-`."""
    return name.replace(b"_", b"-")


def _forms(secret: Secret) -> list[bytes]:
    """Return all forms that a secret can take in a response: plain, URL-encoded, in JSON and in HTML."""
    value = secret.value
    texts = [value, quote(value), quote(value, safe=""), quote_plus(value), html.escape(value), json.dumps(value)[1:-1]]
    forms = [text.encode() for text in texts]
    if secret.into == "basic":
        forms.append(_basic(secret))
    return list(dict.fromkeys(forms))


def _basic(secret: Secret) -> bytes:
    return base64.b64encode(f"{secret.name}:{secret.value}".encode())


def _with_parameter(target: bytes, name: str, value: str) -> bytes:
    path, _, query = target.partition(b"?")
    kept = [
        part for part in query.split(b"&") if part and unquote_plus(part.partition(b"=")[0].decode("latin-1")) != name
    ]
    own = f"{quote(name, safe='')}={quote(value, safe='')}".encode()
    return path + b"?" + b"&".join([*kept, own])
