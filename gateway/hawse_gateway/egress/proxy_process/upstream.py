"""Looks up hosts, and connects only to allowed addresses."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from hawse_gateway.egress.addresses import Address, Network, address_of, is_reachable
from hawse_gateway.egress.refusals import RefusedError

LOOKUP_TIMEOUT: Final = 10.0  # seconds
CONNECT_TIMEOUT: Final = 10.0  # timeout in seconds for each connection attempt, and for the TLS handshake
ADDRESSES_MAX: Final = 4  # maximum number of addresses to try per host
LOOKUPS: Final = 8  # concurrent lookups
BUFFER: Final = 64 << 10  # maximum number of response bytes buffered for a slow program


class Upstream:
    """Opens the proxy's connections to servers.

    Args:
        networks: Non-public networks permitted by the operator.
        addresses: Fixed addresses, keyed by name. These names are not looked up.
        trusted: Additional certificates to trust for servers, in PEM.
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
        """Refuse new lookups. Lookups in progress continue."""
        self._lookups.shutdown(wait=False)

    def permits(self, address: Address) -> bool:
        """Return whether connections to an address are allowed."""
        return is_reachable(address, self._networks)

    async def resolve(self, host: str) -> list[Address]:
        """Look up a normalized host, check that all of its addresses are allowed, and return them.

        Raises:
            RefusedError: The reason is `name` if there are no addresses, and `address` if an address is private, local
                or belongs to a metadata service.
        """
        found = await self._look_up(host)
        if not found:
            raise RefusedError("name", f"{host} has no address")
        if not all(self.permits(address) for address in found):
            raise RefusedError("address", f"{host} has a private or local address, or a metadata service's address")
        return found[:ADDRESSES_MAX]

    async def connect(
        self, host: str, addresses: Sequence[Address], port: int, *, tls: bool
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to one of a host's addresses. Raises `OSError`, including `ssl.SSLError`."""
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
        except (OSError, UnicodeError):  # OSError includes TimeoutError
            return []
        return found


def _getaddrinfo(host: str) -> list[Address]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    texts = dict.fromkeys(str(place[4][0]).partition("%")[0] for place in found)
    return [ipaddress.ip_address(text) for text in texts]
