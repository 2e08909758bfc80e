"""Ports: what listens in a sandbox, what of it strangers may see, and the way to it (docs/wire.md section 9)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from hawse.api.spec import Nothing, Spec

PortNumber = Annotated[int, Meta(ge=1, le=65_535)]
Name = Annotated[str, Meta(min_length=1, max_length=64)]
Token = Annotated[str, Meta(min_length=1, max_length=64)]


class ListPorts(msgspec.Struct):
    """The TCP ports that programs of the sandbox listen on."""


class WatchPorts(msgspec.Struct):
    """Tells which ports are open, now and after every change, until it is cancelled."""


class Expose(msgspec.Struct):
    """Makes a preview of a port: whoever has its token gets there. Again, it gives the same token."""

    port: PortNumber
    name: Name | None = None


class Unexpose(msgspec.Struct):
    """Takes a preview back, and cuts who is in it. Of a port that has none it does nothing."""

    port: PortNumber


class ListExposed(msgspec.Struct):
    """The previews there are."""


class Connect(msgspec.Struct):
    """A TCP connection to a port: bytes both ways, each end closed on its own. Either `port` or a preview's `token`."""

    port: PortNumber | None = None
    token: Token | None = None


class OpenPort(msgspec.Struct, frozen=True, kw_only=True):
    """A port that a program listens on. `process`: the program's name; `exposed`: it has a preview."""

    port: int
    addresses: list[str]
    pid: int
    process: str
    exposed: bool = False


class OpenPorts(msgspec.Struct, frozen=True, kw_only=True):
    """The ports that programs listen on."""

    ports: list[OpenPort]


class Exposed(msgspec.Struct, frozen=True, kw_only=True):
    """A preview. `token` is all that one needs to know; it holds until it is taken back or the runtime ends."""

    port: int
    token: str
    name: str | None = None


class ExposedPorts(msgspec.Struct, frozen=True, kw_only=True):
    """All previews."""

    exposed: list[Exposed]


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """The connection is made. `address`: with whom."""

    port: int
    address: str


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """The other side sends no more; it may still read. `offset`: how many bytes it sent."""

    offset: int


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """Both ends are closed: so many bytes came from the port, and so many went there."""

    received: int
    sent: int


METHODS: dict[str, Spec] = {
    "port.list": Spec(ListPorts, OpenPorts),
    "port.watch": Spec(WatchPorts, Nothing, events={"ports": OpenPorts}),
    "port.expose": Spec(Expose, Exposed),
    "port.unexpose": Spec(Unexpose, Nothing),
    "port.exposed": Spec(ListExposed, ExposedPorts),
    "port.connect": Spec(Connect, Carried, events={"opened": Opened, "end": Ended}, output=("output",), input=True),
}
