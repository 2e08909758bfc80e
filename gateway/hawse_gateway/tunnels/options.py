"""The operator's options for tunnels: TCP ports, a TLS port, and other providers. No I/O."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hawse_gateway.transport.listener import numeric
from hawse_gateway.tunnels.providers import PORT_MAX, Cloudflared, PublicAddressProvider, Ssh

AT_ONCE: Final = 512  # maximum number of connections to all TCP tunnels; each uses up to 0.5 MiB
PUBLISHED_MAX: Final = 32  # maximum number of tunnels from other providers; each runs a program that uses about 30 MB
RANGE_FORM: Final = "[ADDRESS:]FIRST-LAST"
TLS_FORM: Final = "[ADDRESS:]PORT"
_TEXT = re.compile(r"(?:(?P<address>[^\s\[\]:]+|\[[0-9a-fA-F:.]+\]):)?(?P<first>[0-9]{1,5})(?:-(?P<last>[0-9]{1,5}))?")


@dataclass(frozen=True, kw_only=True)
class TunnelOptions:
    """The operator's options for tunnels.

    Attributes:
        ports: The gateway's ports for `tcp` tunnels. Empty to disable them.
        address: The address to listen on.
        host: The public host name or address of the ports. Defaults to the gateway's own host name or address.
        tls_port: The port for `tls` tunnels. None disables them.
        tls_address: The address to listen on for `tls` tunnels.
        providers: Other providers, keyed by name.
        root: The parent directory for their programs' directories. None disables other providers.
    """

    ports: range = field(default=range(0))
    address: str = "127.0.0.1"
    host: str | None = None
    tls_port: int | None = None
    tls_address: str = "127.0.0.1"
    providers: Mapping[str, PublicAddressProvider] = field(default_factory=dict)
    root: Path | None = None

    def resolved(self) -> "TunnelOptions":
        """Resolve host names in advance, because resolving blocks. Return the options with the names resolved.

        Raises:
            ValueError: A name has no address. The message starts with the option that contains the name.
        """
        found = self
        if self.ports:
            found = replace(found, address=_numeric("--tunnel-ports", self.address))
        if self.tls_port is not None:
            found = replace(found, tls_address=_numeric("--tunnel-tls-port", self.tls_address))
        return found

    @property
    def sockets(self) -> int:
        """The maximum number of sockets that tunnels can need."""
        listening = len(self.ports) + (self.tls_port is not None) + (PUBLISHED_MAX * 3 if self.providers else 0)
        return listening + AT_ONCE if listening else 0

    @classmethod
    def parse(
        cls,
        ports: str | None,
        tls_port: str | None,
        *,
        address: str,
        host: str | None = None,
        cloudflared: bool = False,
        ssh: str | None = None,
    ) -> "TunnelOptions":
        """Parse command-line values.

        Args:
            ports: A port range such as `20000-20099` or `0.0.0.0:20000-20099`, if given.
            tls_port: A port such as `8443` or `[::]:8443`, if given.
            address: The default address to listen on.
            host: The host name or address that visitors use to reach the ports.
            cloudflared: Whether to enable Cloudflare quick tunnels.
            ssh: An SSH server whose ports tunnels can use, if given.

        Raises:
            ValueError: A value is invalid. The message starts with the name of its option.
        """
        found, first, last = _parsed("--tunnel-ports", ports, RANGE_FORM, address)
        tls_address, port, none = _parsed("--tunnel-tls-port", tls_port, TLS_FORM, address)
        if ports is not None and last < first:
            raise ValueError(f"--tunnel-ports {ports}: the last port is below the first")
        if tls_port is not None and none:
            raise ValueError(f"--tunnel-tls-port {tls_port}: expected {TLS_FORM}")
        providers: list[PublicAddressProvider] = [Cloudflared()] if cloudflared else []
        if ssh is not None:
            try:
                providers.append(Ssh(ssh))
            except ValueError as error:
                raise ValueError(f"--tunnel-ssh {ssh}: {error}") from None
        return cls(
            ports=range(0) if ports is None else range(first, last + 1),
            address=found,
            host=host,
            tls_port=None if tls_port is None else port,
            tls_address=tls_address,
            providers={provider.name: provider for provider in providers},
        )


def _numeric(option: str, host: str) -> str:
    try:
        return numeric(host)
    except (OSError, UnicodeError) as error:  # UnicodeError: a label in the name is too long
        raise ValueError(f"{option}: {host} has no address: {getattr(error, 'strerror', None) or error}") from None


def _parsed(option: str, text: str | None, form: str, address: str) -> tuple[str, int, int]:
    """Return the address and the two port numbers in a value. If the second number is missing, it is 0."""
    if text is None:
        return address, 0, 0
    match = _TEXT.fullmatch(text)
    if match is None or (match["last"] is None) != (form == TLS_FORM):
        raise ValueError(f"{option} {text}: expected {form}")
    numbers = int(match["first"]), int(match["last"] or 0)
    if not (1 <= numbers[0] <= PORT_MAX and numbers[1] <= PORT_MAX):
        raise ValueError(f"{option} {text}: ports are from 1 to {PORT_MAX}")
    return (match["address"] or address).strip("[]"), *numbers
