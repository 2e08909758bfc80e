"""Connects visitors to ports in sandboxes, enforces limits, writes audit entries, and closes a tunnel's connections
when the tunnel ends.

A request is an HTTP request or a TCP connection. Requests don't start sandboxes.
"""

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import NamedTuple, Protocol

import msgspec

from hawse.api.ports import preview_digest
from hawse.api.rights import OPERATE
from hawse.wire import HawseError, Principal
from hawse_gateway.auth.principals import PREVIEW
from hawse_gateway.limits.byte_rates import ByteRates
from hawse_gateway.limits.quotas import HeldLimit
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.table import read_previews
from hawse_gateway.tunnels.table import TunnelRecord, TunnelTable
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.port_connection import PortTunnel
from hawse_gateway.upstream.sandbox_link import SandboxLink


class IngressAudit(Protocol):
    """The subset of the audit log's interface needed to record visitors."""

    def preview(self, visitor: Principal, address: str, sandbox: str, port: int) -> None:
        """Record that a visitor has connected to a port."""


class IngressRequest(NamedTuple):
    """A visitor's request or connection.

    Attributes:
        visitor: The visitor.
        sandbox: The sandbox's id.
        place: The token of a preview, or the port number of a tunnel.
        caller: The principal that connects to the port on the visitor's behalf.
        port: The port in the preview's address, or None if the address contains no port.
        tunnel: The tunnel. None if the request is to a preview.
    """

    visitor: Principal
    sandbox: str
    place: str | int
    caller: Principal
    port: int | None = None
    tunnel: TunnelRecord | None = None


def preview_request(sandbox: str, token: str, port: int | None) -> IngressRequest:
    """Return a request to a preview. The token is secret, so the visitor's id only contains its digest."""
    digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return IngressRequest(msgspec.structs.replace(PREVIEW, id=f"preview {digest}"), sandbox, token, PREVIEW, port=port)


def tunnel_request(record: TunnelRecord) -> IngressRequest:
    """Return a request to a tunnel."""
    visitor = msgspec.structs.replace(PREVIEW, id=f"tunnel {record.name}", name=record.name)
    caller = msgspec.structs.replace(visitor, rights=(f"{OPERATE}/{record.sandbox}",))
    return IngressRequest(visitor, record.sandbox, record.port, caller, tunnel=record)


def no_tunnel() -> HawseError:
    return HawseError("not_found", "no such tunnel")


class Ingress:
    """Connects visitors to ports in sandboxes."""

    def __init__(
        self,
        sandboxes: Sandboxes,
        links: Links,
        tunnels: TunnelTable,
        *,
        byte_rates: ByteRates | None = None,
        connections: HeldLimit | None = None,
        audit: IngressAudit | None = None,
    ) -> None:
        """Create an instance without connections.

        Args:
            sandboxes: The sandboxes, used to check whether a sandbox is running.
            links: The links to the sandboxes.
            tunnels: The tunnels.
            byte_rates: Slows down visitors that exceed their byte rate. None disables the limit.
            connections: Limits each visitor's requests and connections. None disables the limit.
            audit: Notified of visitors. None disables notifications.
        """
        self._sandboxes = sandboxes
        self._links = links
        self._tunnels = tunnels
        self._byte_rates = byte_rates or ByteRates()
        self._connections = connections or HeldLimit()
        self._audit = audit

    @asynccontextmanager
    async def connected(
        self, request: IngressRequest, address: str, ended: Callable[[], None] = lambda: None
    ) -> AsyncIterator[PortTunnel]:
        """Stay connected to the requested port inside the `async with` block. If the tunnel ends, the connection is
        broken.

        Args:
            request: The request.
            address: The visitor's address, as `HOST:PORT`.
            ended: Called if the tunnel ends.

        Raises:
            HawseError: `not_found`; `stale_handle` if the sandbox is not running; `limit_exceeded`; or any error that
                `port.connect` raises.
        """
        pace = self._byte_rates.pace(request.visitor, address)
        if pace is not None:
            pace.check()
        with self._connections.hold(request.visitor, address):
            link = await self._link(request)
            async with PortTunnel(link, request.place, pace, principal=request.caller) as connection:
                if request.port not in (None, connection.port):
                    raise HawseError("not_found", "no such preview")

                def end() -> None:
                    connection.cut(HawseError("not_found", "the tunnel has ended", admitted="unknown"))
                    ended()

                if request.tunnel is not None:
                    found = self._tunnels.find(request.tunnel.name)
                    if found is None or not found.leads_where(request.tunnel):
                        raise no_tunnel()  # the tunnel has ended, although a new tunnel may have the same name
                with nullcontext() if request.tunnel is None else self._tunnels.hold(request.tunnel.name, end):
                    if self._audit is not None:
                        self._audit.preview(request.visitor, address, request.sandbox, connection.port)
                    yield connection

    async def _link(self, request: IngressRequest) -> SandboxLink:
        """Return the link to a sandbox that is already running. Raises `HawseError`."""
        link = self._links.get(request.sandbox)
        if link.ready:
            return link
        try:
            info = await self._sandboxes.get(request.sandbox)
        except HawseError as error:
            if error.code != "not_found":
                raise
            raise HawseError("not_found", "no such address") from None
        if info.state != "running":
            await self._check_preview(request)
            raise HawseError("stale_handle", "the sandbox is not running")
        return link

    async def _check_preview(self, request: IngressRequest) -> None:
        """Raise `HawseError` (`not_found`) if a stopped sandbox is known to have had no such preview."""
        if isinstance(request.place, int):
            return
        previews = await read_previews(self._sandboxes.store, request.sandbox)
        if previews is not None and preview_digest(request.place) not in previews:
            raise HawseError("not_found", "no such preview")
