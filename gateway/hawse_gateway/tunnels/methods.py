"""Handlers for `tunnel.*`."""

import asyncio
import base64
import errno
import re
import secrets
from itertools import islice
from typing import Final, Protocol

import msgspec

from hawse.api.rights import ALL
from hawse.api.spec import Nothing
from hawse.api.tunnels import (
    TunnelCreate,
    TunnelDelete,
    TunnelInfo,
    TunnelKind,
    TunnelList,
    TunnelListResult,
    TunnelProvider,
)
from hawse.rpc import handles
from hawse.wire import HawseError, Principal
from hawse_gateway.core.cancellation import finished
from hawse_gateway.store.base import ConflictError
from hawse_gateway.tunnels.options import PUBLISHED_MAX, TunnelOptions
from hawse_gateway.tunnels.providers import PublicAddressProvider
from hawse_gateway.tunnels.publications import Publications, find_program
from hawse_gateway.tunnels.table import MARK, TCP, TunnelRecord, TunnelTable

PREFIX: Final = "/t/"  # path prefix of the tunnels' addresses
PER_SANDBOX: Final = 16
TOTAL: Final = 1000  # maximum number of tunnels on a gateway, because each uses memory for its row
PUBLISH_TIMEOUT: Final = 25.0  # seconds to wait for another provider to assign an address
TAKEN: Final = (errno.EADDRINUSE, errno.EACCES)  # errors that show that a port is taken
PORTS_TRIED: Final = 100  # maximum number of ports to try
SECRET: Final = 10  # number of random bytes in a name: 16 characters
_OF_PORT = re.compile(rf"{TCP}[0-9]+")


class TunnelPorts(Protocol):
    """An interface for opening ports on the gateway."""

    def open(self, port: int) -> None:
        """Open a port for a tunnel that is about to be created. Raises `OSError`."""

    def release(self, port: int) -> None:
        """Close a port if its tunnel was not created after all."""

    def refused(self, port: int) -> bool:
        """Return whether a tunnel's port could not be opened."""
        ...


class TunnelMethods:
    """Handlers for `tunnel.*`."""

    def __init__(
        self,
        table: TunnelTable,
        *,
        preview_host: str | None = None,
        limit: int | None = None,
        options: TunnelOptions | None = None,
        ports: TunnelPorts | None = None,
        publications: Publications | None = None,
    ) -> None:
        """Create the handlers.

        Args:
            table: The tunnels.
            preview_host: The parent domain of tunnels' host names. None if tunnels have only path-based addresses.
            limit: The maximum number of tunnels for a user with limited permissions. None means unlimited.
            options: The ports that TCP tunnels can use. None disables TCP tunnels.
            ports: Opens the ports for TCP tunnels. None disables TCP tunnels.
            publications: Runs other providers' programs. None disables other providers.
        """
        self._table = table
        self._preview_host = preview_host
        self._limit = limit
        self._options = options or TunnelOptions()
        self._ports = ports
        self._publications = publications
        self._creating = asyncio.Lock()

    @handles(TunnelCreate, caller=True)
    async def create(self, params: TunnelCreate, caller: Principal) -> TunnelInfo:
        kind = params.kind or ("tcp" if params.provider == "ssh" else "http")
        self._check(params, kind)
        generation = await self._generation(params.sandbox)
        async with self._creating:
            now = self._table.clock.now()
            record = TunnelRecord(
                name=self._name(params, kind),
                sandbox=params.sandbox,
                generation=generation,
                port=params.port,
                kind=kind,
                created=now,
                owner=caller.id,
                provider=params.provider,
                remote_port=None if params.provider == "gateway" else params.public_port,
            )
            expires = None if params.expires_in is None else now.after(params.expires_in)
            known = self._table.find(record.name)
            if known is None:
                self._check_room(record, caller)
                record = await self._add(msgspec.structs.replace(record, expires=expires), params.public_port)
            elif _place(known) == _place(record):
                if record.remote_port not in (None, known.remote_port):
                    raise HawseError("conflict", f"the tunnel {known.name!r} has another port: delete it first")
                record = msgspec.structs.replace(known, expires=expires)
                await self._put(record)
            else:
                raise _taken(record.name)
        if known is None and record.provider != "gateway":
            await self._publish(record)
        return self._describe(record)

    @handles(TunnelList)
    async def list_(self, params: TunnelList) -> TunnelListResult:
        await self._generation(params.sandbox)
        return TunnelListResult(tunnels=[self._describe(record) for record in self._table.of(params.sandbox)])

    @handles(TunnelDelete)
    async def delete(self, params: TunnelDelete) -> Nothing:
        record = self._table.find(params.tunnel)
        if record is None or record.sandbox != params.sandbox:
            raise HawseError("not_found", f"sandbox {params.sandbox!r} has no tunnel {params.tunnel!r}")
        await self._table.remove(record)
        return Nothing()

    # ---- inside

    async def _generation(self, sandbox: str) -> str:
        generation = await self._table.generation(sandbox)
        if generation is None:
            raise HawseError("not_found", f"unknown sandbox {sandbox!r}")
        return generation

    def _check_room(self, record: TunnelRecord, caller: Principal) -> None:
        """Raise `HawseError` (`limit_exceeded`) if another tunnel would exceed a limit."""
        if len(self._table.of(record.sandbox)) >= PER_SANDBOX:
            raise HawseError("limit_exceeded", f"a sandbox can have at most {PER_SANDBOX} tunnels: delete one")
        if self._table.count() >= TOTAL:
            raise HawseError("limit_exceeded", f"at most {TOTAL} tunnels can exist at this gateway")
        if record.provider != "gateway" and len(self._table.of_others()) >= PUBLISHED_MAX:
            raise HawseError("limit_exceeded", f"at most {PUBLISHED_MAX} tunnels can use other providers")
        limited = self._limit is not None and ALL not in caller.rights
        if limited and self._table.count(caller.id) >= (self._limit or 0):
            raise HawseError(
                "limit_exceeded", f"{caller.id!r} has reached the limit of {self._limit} tunnels: delete one"
            )

    def _check(self, params: TunnelCreate, kind: TunnelKind) -> None:
        """Check that the parameters suit the tunnel's kind. Raises `HawseError`, for example `unavailable` if the kind
        is disabled."""
        options = self._options
        if params.provider != "gateway":
            provider = self._provider(params.provider)
            if kind != provider.kind:
                text = f"{provider.name} tunnels have the kind {provider.kind}, not {kind}"
                raise HawseError("invalid_params", text, details={"path": "$.kind"})
        elif kind == "tcp":
            if not options.ports:
                raise _disabled("this gateway has no ports for tunnels: hawse serve --tunnel-ports")
            if params.name is not None:
                text = "a tcp tunnel has no name: its port is its address"
                raise HawseError("invalid_params", text, details={"path": "$.name"})
            if params.public_port is not None and params.public_port not in options.ports:
                text = f"`public_port` must be from {options.ports[0]} to {options.ports[-1]}, not {params.public_port}"
                raise HawseError("invalid_params", text, details={"path": "$.public_port"})
            return
        if params.public_port is not None and kind != "tcp":
            text = f"`public_port` requires the kind tcp, not {kind}"
            raise HawseError("invalid_params", text, details={"path": "$.public_port"})
        if params.name is not None and _OF_PORT.fullmatch(params.name):
            text = f"the name {params.name!r} is reserved for the kind tcp"
            raise HawseError("invalid_params", text, details={"path": "$.name"})
        if kind == "tls" and (options.tls_port is None or self._preview_host is None):
            raise _disabled("this gateway has no tunnels by TLS name: hawse serve --tunnel-tls-port and --preview-host")

    def _provider(self, name: TunnelProvider) -> PublicAddressProvider:
        """Return an external provider. Raises `HawseError` (`unavailable`)."""
        provider = self._options.providers.get(name)
        if provider is None or self._publications is None:
            raise _disabled(f"this gateway does not offer {name} tunnels: hawse serve --tunnel-{name}")
        find_program(provider)
        return provider

    async def _publish(self, record: TunnelRecord) -> None:
        """Wait for a new tunnel's address. On failure, remove the tunnel and raise `HawseError`."""
        assert self._publications is not None, "checked by the caller"
        try:
            publication = await self._publications.start(record)
            try:
                async with asyncio.timeout(PUBLISH_TIMEOUT):
                    await publication.settled()
            except TimeoutError:
                text = f"{record.provider} assigned no address within {PUBLISH_TIMEOUT:g} s"
                raise _disabled(text) from None
            if publication.url is None:
                raise _disabled(f"{record.provider} assigned no address: {publication.problem}")
        except BaseException:
            await finished(self._table.remove(record))
            raise

    def _name(self, params: TunnelCreate, kind: TunnelKind) -> str:
        if kind == "tcp" and params.provider == "gateway":
            return f"{TCP}{params.public_port or 0}"  # 0 means any port
        return params.name or new_name()

    async def _add(self, record: TunnelRecord, public_port: int | None) -> TunnelRecord:
        """Store a new tunnel, and assign it a free port if its kind needs one."""
        if record.kind != "tcp" or record.provider != "gateway" or self._ports is None:
            await self._put(record)
            return record
        tries = self._free_ports() if public_port is None else [public_port]
        reason = "other tunnels have them"
        for port in tries:
            record = msgspec.structs.replace(record, name=f"{TCP}{port}")
            try:
                self._ports.open(port)
            except OSError as error:
                if error.errno not in TAKEN:
                    raise HawseError("unavailable", f"cannot open port {port}: {error.strerror}") from error
                reason = str(error)
                continue
            try:
                await self._put(record)
            except BaseException as error:
                self._ports.release(port)
                if not isinstance(error, HawseError) or error.code != "conflict":
                    raise
                continue  # another gateway has just taken this port
            return record
        which = f"the port {public_port}" if public_port is not None else "a port for a tunnel"
        raise HawseError("conflict" if public_port is not None else "limit_exceeded", f"{which} is not free: {reason}")

    def _free_ports(self) -> list[int]:
        """Return some ports that have no tunnel, starting at a random port. Other programs may be using these ports."""
        ports, taken = self._options.ports, {record.public_port for record in self._table.tcp()}
        start = secrets.randbelow(len(ports))
        rotated = (ports[(start + step) % len(ports)] for step in range(len(ports)))
        return list(islice((port for port in rotated if port not in taken), PORTS_TRIED))

    async def _put(self, record: TunnelRecord) -> None:
        try:
            await self._table.put(record)
        except ConflictError:
            raise _taken(record.name) from None

    def _describe(self, record: TunnelRecord) -> TunnelInfo:
        url, problem = self._reachable(record)
        own = record.provider == "gateway"
        label = None if self._preview_host is None else f"{MARK}{record.name}.{self._preview_host}"
        return TunnelInfo(
            id=record.name,
            sandbox=record.sandbox,
            port=record.port,
            kind=record.kind,
            path=f"{PREFIX}{record.name}/" if own and record.kind == "http" else None,
            host=(self._options.host if record.kind == "tcp" else label) if own else None,
            public_port=self._options.tls_port if record.kind == "tls" else record.public_port,
            owner=record.owner,
            created=record.created.wall,
            expires=None if record.expires is None else record.expires.wall,
            connections=self._table.connections(record.name),
            provider=record.provider,
            url=url,
            problem=problem,
        )

    def _reachable(self, record: TunnelRecord) -> tuple[str | None, str | None]:
        """Return the address assigned by another provider, and the reason why the tunnel is unreachable. The reason is
        None if the tunnel is reachable."""
        options = self._options
        if record.provider != "gateway":
            if record.provider not in options.providers:
                return None, f"this gateway was started without --tunnel-{record.provider}"
            found = None if self._publications is None else self._publications.find(record)
            if found is None or (found.url is None and found.problem is None):
                return None, f"{record.provider} has not assigned an address yet"
            return found.url, found.problem
        if record.kind == "tcp" and record.public_port not in options.ports:
            return None, "this gateway's --tunnel-ports do not include the tunnel's port"
        if record.kind == "tls" and (options.tls_port is None or self._preview_host is None):
            return None, "this gateway was started without --tunnel-tls-port"
        port = options.tls_port if record.kind == "tls" else record.public_port
        if port is not None and self._ports is not None and self._ports.refused(port):
            return None, f"the gateway cannot open its port {port}: another program may be using it"
        return None, None


def new_name() -> str:
    """Return a random name with 16 lowercase letters and digits."""
    return base64.b32encode(secrets.token_bytes(SECRET)).decode().lower()


def _place(record: TunnelRecord) -> tuple[object, ...]:
    return record.sandbox, record.port, record.kind, record.provider


def _disabled(text: str) -> HawseError:
    """Return the error for a missing setting. A retry can only succeed after the operator has changed the setting."""
    return HawseError("unavailable", text, retryable=False)


def _taken(name: str) -> HawseError:
    return HawseError("conflict", f"the name {name!r} is taken: choose another name, or delete that tunnel")
