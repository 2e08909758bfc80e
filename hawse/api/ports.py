"""Ports: what listens in a sandbox, what of it strangers may see, and the way to it (docs/wire.md section 9)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from hawse.api.spec import Nothing, Spec

PortNumber = Annotated[int, Meta(ge=1, le=65_535)]
PreviewName = Annotated[str, Meta(min_length=1, max_length=64)]
PreviewToken = Annotated[str, Meta(min_length=1, max_length=64)]


class PortList(msgspec.Struct):
    """The TCP ports that programs of the sandbox listen on."""


class PortWatch(msgspec.Struct):
    """Tells which ports are open, now and after every change, until it is cancelled."""


class PortExpose(msgspec.Struct):
    """Makes a preview of a port: whoever has its token gets there. Again, it gives the same token."""

    port: PortNumber
    name: PreviewName | None = None


class PortUnexpose(msgspec.Struct):
    """Takes a preview back, and cuts who is in it. Of a port that has none it does nothing."""

    port: PortNumber


class PortExposed(msgspec.Struct):
    """The previews there are."""


class PortConnect(msgspec.Struct):
    """A TCP connection to a port: bytes both ways, each end closed on its own. Either `port` or a preview's `token`."""

    port: PortNumber | None = None
    token: PreviewToken | None = None


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


METHODS: dict[str, Spec] = {
    "port.list": Spec(PortList, PortListResult),
    "port.watch": Spec(PortWatch, Nothing, events={"ports": PortListResult}),
    "port.expose": Spec(PortExpose, ExposedPort),
    "port.unexpose": Spec(PortUnexpose, Nothing),
    "port.exposed": Spec(PortExposed, PortExposedResult),
    "port.connect": Spec(
        PortConnect,
        PortConnectResult,
        events={"opened": PortConnectOpened, "end": PortConnectEnd},
        output=("output",),
        input=True,
    ),
}
