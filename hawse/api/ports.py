"""Ports: what listens in a sandbox, what of it strangers may see, and the way to it (docs/wire.md section 9)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from hawse.api.rights import PREVIEW
from hawse.api.spec import Nothing, Params, method

PortNumber = Annotated[int, Meta(ge=1, le=65_535)]
PreviewName = Annotated[str, Meta(min_length=1, max_length=64)]
PreviewToken = Annotated[str, Meta(min_length=1, max_length=64)]


# ---- values


class OpenPort(msgspec.Struct, frozen=True, kw_only=True):
    """A port that a program listens on. `process`: the program's name; `exposed`: it has a preview."""

    port: int
    addresses: list[str]
    pid: int
    process: str
    exposed: bool = False


class PortListResult(msgspec.Struct, frozen=True, kw_only=True):
    """The ports that programs listen on."""

    ports: list[OpenPort]


class ExposedPort(msgspec.Struct, frozen=True, kw_only=True):
    """A preview. `token` is all that one needs to know; it holds until it is taken back or the runtime ends."""

    port: int
    token: str
    name: str | None = None


class PortExposedResult(msgspec.Struct, frozen=True, kw_only=True):
    """All previews."""

    exposed: list[ExposedPort]


class PortConnectOpened(msgspec.Struct, frozen=True, kw_only=True):
    """The connection is made. `address`: with whom."""

    port: int
    address: str


class PortConnectEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The other side sends no more; it may still read. `offset`: how many bytes it sent."""

    offset: int


class PortConnectResult(msgspec.Struct, frozen=True, kw_only=True):
    """Both ends are closed: so many bytes came from the port, and so many went there."""

    received: int
    sent: int


# ---- methods


@method("port.list", safe=True)
class PortList(Params[PortListResult], kw_only=True):
    """The TCP ports that programs of the sandbox listen on."""


@method("port.watch", events={"ports": PortListResult})
class PortWatch(Params[Nothing], kw_only=True):
    """Tells which ports are open, now and after every change, until it is cancelled."""


@method("port.expose")
class PortExpose(Params[ExposedPort], kw_only=True):
    """Makes a preview of a port: whoever has its token gets there. Again, it gives the same token."""

    port: PortNumber
    name: PreviewName | None = None


@method("port.unexpose")
class PortUnexpose(Params[Nothing], kw_only=True):
    """Takes a preview back, and cuts who is in it. Of a port that has none it does nothing."""

    port: PortNumber


@method("port.exposed", safe=True)
class PortExposed(Params[PortExposedResult], kw_only=True):
    """The previews there are."""


@method(
    "port.connect",
    requires=PREVIEW,
    events={"opened": PortConnectOpened, "end": PortConnectEnd},
    output=("output",),
    input=True,
)
class PortConnect(Params[PortConnectResult], kw_only=True):
    """A TCP connection to a port: bytes both ways, each end closed on its own. Either `port` or a preview's `token`."""

    port: PortNumber | None = None
    token: PreviewToken | None = None
