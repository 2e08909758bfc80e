"""Ports: the `port.*` methods, and `preview.host`, which returns the domain for previews of ports."""

import hashlib
from typing import Annotated

import msgspec
from msgspec import Meta

from hawse.api.rights import PREVIEW, VIEW
from hawse.api.spec import SELECTED, Nothing, Params, Reply, method
from hawse.api.types import matching

# ---- values


PortNumber = Annotated[int, Meta(ge=1, le=65_535)]
PreviewName = Annotated[str, Meta(min_length=1, max_length=64)]
PreviewToken = Annotated[str, Meta(min_length=1, max_length=64)]
# The token becomes part of a host name.
ChosenToken = Annotated[
    str, matching(r"^[a-z0-9]*$(?!\n)", "lower-case letters and digits", min_length=8, max_length=40)
]


class OpenPort(msgspec.Struct, frozen=True, kw_only=True):
    """A TCP port that a program in the sandbox is listening on.

    Attributes:
        port: The port number.
        addresses: Addresses that the program is listening on.
        pid: Process id of the program.
        process: Name of the program.
        exposed: Whether the port has a preview.
    """

    port: int
    addresses: list[str]
    pid: int
    process: str
    exposed: bool = False


class PortListResult(msgspec.Struct, frozen=True, kw_only=True):
    """Open ports.

    Attributes:
        ports: At most 1,000 ports, sorted by number.
    """

    ports: list[OpenPort]


class ExposedPort(msgspec.Struct, frozen=True, kw_only=True):
    """A preview of a port.

    Attributes:
        port: The port number.
        token: Secret that gives access to this port. It stays valid until the preview is revoked or the runtime exits.
        name: Display name of the preview, if any.
    """

    port: int
    token: str
    name: str | None = None


class PortExposedResult(msgspec.Struct, frozen=True, kw_only=True):
    """A sandbox's previews.

    Attributes:
        exposed: All previews.
    """

    exposed: list[ExposedPort]


class PortConnectOpened(msgspec.Struct, frozen=True, kw_only=True):
    """The connection is established.

    Attributes:
        port: The port number.
        address: Address the call is connected to.
    """

    port: int
    address: str


class PortConnectEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The program has closed its half of the connection; it can still read.

    Attributes:
        offset: Number of bytes that the program sent.
    """

    offset: int


class PortConnectResult(msgspec.Struct, frozen=True, kw_only=True):
    """Both halves of the connection are closed, and all input has been written.

    Attributes:
        received: Number of bytes received from the program.
        sent: Number of bytes sent to the program.
    """

    received: int
    sent: int


class PortListening(msgspec.Struct, frozen=True, kw_only=True):
    """The runtime is listening.

    Attributes:
        port: The port number.
        address: The address that programs in the sandbox can connect to.
    """

    port: int
    address: str


class PortIncoming(msgspec.Struct, frozen=True, kw_only=True):
    """A program has connected to the port.

    Attributes:
        connection: Id of the connection, to pass to `port.accept`.
        address: Address of the program, `HOST:PORT`.
    """

    connection: str
    address: str


class PreviewHostResult(Reply, frozen=True, kw_only=True):
    """The domain used for preview host names.

    Attributes:
        host: The parent domain of all preview host names; null if previews can only be reached by path.
    """

    host: str | None = None


# ---- methods


@method("port.list", safe=True)
class PortList(Params[PortListResult], kw_only=True):
    """List the TCP ports that programs in the sandbox are listening on."""


@method("port.watch", events={"ports": PortListResult}, passive=True)
class PortWatch(Params[Nothing], kw_only=True):
    """Report the open ports, now and after every change, until the call is cancelled.

    The runtime polls every 0.2 to 2 seconds, so it can miss ports that were open only briefly.
    """


@method("port.expose", raises=("forbidden", "limit_exceeded", "conflict", "io_error", "no_space"))
class PortExpose(Params[ExposedPort], kw_only=True):
    """Create a preview of a port, or return the existing one.

    The port doesn't have to be open yet. If the port belongs to a program outside the sandbox, the error is
    `forbidden`. At most 256 ports can have previews (`limit_exceeded`). Previews survive a restart of the sandbox. The
    error is `conflict` if the port has a preview with another token, or another port has a preview with this token.

    Args:
        port: The port number.
        name: Display name for a new preview.
        token: Token for a new preview, 8 to 40 lower-case letters and digits; null means a random one. Any client that
            knows the token can connect to the port.
    """

    port: PortNumber
    name: PreviewName | None = None
    token: ChosenToken | None = None


@method("port.unexpose")
class PortUnexpose(Params[Nothing], kw_only=True):
    """Revoke the preview of a port and end its connections.

    It is not an error if the port has no preview.

    Args:
        port: The port number.
    """

    port: PortNumber


@method("port.exposed", safe=True)
class PortExposed(Params[PortExposedResult], kw_only=True):
    """List all previews."""


@method(
    "port.connect",
    audit=False,
    requires=PREVIEW,
    events={"opened": PortConnectOpened, "end": PortConnectEnd},
    output=("output",),
    input=True,
    raises=("unavailable", "forbidden", "not_found", "limit_exceeded", "input_gap", "io_error"),
)
class PortConnect(Params[PortConnectResult], kw_only=True):
    """Connect to a TCP port in the sandbox; bytes are passed in both directions.

    Set exactly one of `port` and `token`. Each half of the connection can be closed separately. The connection cannot
    be resumed: it breaks if the client disconnects or cancels the call. At most 1,024 connections can be open
    (`limit_exceeded`).

    The error is `unavailable` if no program is listening on the port; `forbidden` if the port belongs to a program
    outside the sandbox, or if the caller lacks the right to connect without a preview's token; `not_found` if the token
    is unknown or revoked; `io_error` if the connection broke.

    Args:
        port: The port number; requires the `operate` right.
        token: Token of a preview.
    """

    port: PortNumber | None = None
    token: PreviewToken | None = None


@method(
    "port.listen",
    events={"listening": PortListening, "connection": PortIncoming},
    raises=("conflict", "limit_exceeded", "unavailable"),
)
class PortListen(Params[Nothing], kw_only=True):
    """Listen on a TCP port in the sandbox, and let the caller forward each connection to a target of its choice.

    When a program connects, the event `connection` is sent, and the connection waits 30 seconds for `port.accept`. At
    most 64 connections can wait at a time; the kernel queues any others. The port is open until the call ends; accepted
    connections continue. A later call by the same user for the same port replaces this call, which ends with
    `conflict`.

    The error is `conflict` if the port is in use, or `limit_exceeded` if 64 ports are already open.

    Args:
        port: The port number, 1,024 or above; 0 means a free port.
    """

    port: Annotated[int, Meta(ge=0, le=65_535)] = 0


@method(
    "port.accept",
    audit=False,
    events={"opened": PortConnectOpened, "end": PortConnectEnd},
    output=("output",),
    input=True,
    raises=("not_found", "limit_exceeded", "input_gap", "io_error"),
)
class PortAccept(Params[PortConnectResult], kw_only=True):
    """Accept a connection reported by `port.listen`. Bytes are passed in both directions, as with `port.connect`.

    The error is `not_found` if the connection was already accepted or has waited too long, or if the call to
    `port.listen` has ended. If the connection broke, the error is `io_error`.

    Args:
        connection: Id of the connection.
    """

    connection: Annotated[str, Meta(min_length=1, max_length=64)]


def preview_digest(token: str) -> str:
    """Return an identifier for a preview's token that doesn't reveal the token: half of its SHA-256, in hex."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@method("preview.host", safe=True, requires=VIEW, terminal=SELECTED, sandbox=False)
class PreviewHost(Params[PreviewHostResult], kw_only=True):
    """Return the parent domain of all preview host names."""
