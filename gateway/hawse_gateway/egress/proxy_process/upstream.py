"""Looks up hosts and connects to them. A connection goes to an address that was checked, and to no other."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from hawse_gateway.egress.addresses import Address, Network, address_of, is_reachable
from hawse_gateway.egress.refusals import RefusedError

LOOKUP_TIMEOUT: Final = 10.0  # s
CONNECT_TIMEOUT: Final = 10.0  # s for each address, and for the TLS handshake
ADDRESSES_MAX: Final = 4  # of a host that are tried
LOOKUPS: Final = 8  # at once
BUFFER: Final = 64 << 10  # bytes of an answer that wait for a slow program


class Upstream:
    """What the proxy connects to.

    Args:
        networks: Networks that are not public and that the operator permits.
        addresses: Addresses of names that are not looked up.
        trusted: More certificates, in PEM, that servers may prove to own.
    """

    def __init__(
        self, networks: Sequence[str] = (), addresses: Mapping[str, str] | None = None, trusted: str = ""
    ) -> None:
        self._networks: list[Network] = [ipaddress.ip_network(text) for text in networks]
        self._addresses = {name: ipaddress.ip_address(text) for name, text in (addresses or {}).items()}
        self._lookups = ThreadPoolExecutor(LOOKUPS, "look up")
        self._context = ssl.create_default_context()
        if trusted:
            self._context.load_verify_locations(cadata=trusted)
        self._context.set_alpn_protocols(["http/1.1"])

    def close(self) -> None:
        """Look nothing up any more. What is in progress goes on."""
        self._lookups.shutdown(wait=False)

    def permits(self, address: Address) -> bool:
        """Whether an address may be connected to."""
        return is_reachable(address, self._networks)

    async def resolve(self, host: str) -> list[Address]:
        """Return the addresses of a normalized host, each of which may be connected to.

        Raises:
            RefusedError: `name` if there are none, `address` if one of them is private, local or of a metadata service.
        """
        found = await self._look_up(host)
        if not found:
            raise RefusedError("name", f"{host} has no address")
        if not all(self.permits(address) for address in found):
            raise RefusedError("address", f"{host} has an address that is private, local or of a metadata service")
        return found[:ADDRESSES_MAX]

    async def connect(
        self, host: str, addresses: Sequence[Address], port: int, *, tls: bool
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to one of the addresses of a host. Raises `OSError`, of which `ssl.SSLError` is one."""
        failure: OSError = OSError("no address")
        for address in addresses:
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    return await asyncio.open_connection(
                        str(address),
                        port,
                        limit=BUFFER,
                        ssl=self._context if tls else None,
                        server_hostname=host if tls else None,
                    )
            except TimeoutError:
                failure = OSError(f"no connection within {CONNECT_TIMEOUT:g} s")
            except OSError as error:
                failure = error
        raise failure

    async def _look_up(self, host: str) -> list[Address]:
        literal = self._addresses.get(host) or address_of(host)
        if literal is not None:
            return [literal]
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT):
                found = await loop.run_in_executor(self._lookups, _getaddrinfo, host)
        except (OSError, UnicodeError):  # TimeoutError is an OSError
            return []
        return found


def _getaddrinfo(host: str) -> list[Address]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    texts = dict.fromkeys(str(place[4][0]).partition("%")[0] for place in found)
    return [ipaddress.ip_address(text) for text in texts]
