"""What an operator lets tunnels use: ports, a port for TLS by name, and other providers than the gateway. No I/O."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hawse_gateway.transport.listener import numeric
from hawse_gateway.tunnels.providers import PORT_MAX, Cloudflared, Provider, Ssh

AT_ONCE: Final = 512  # connections of all TCP tunnels: each is a socket, a channel of a link and up to 0.5 MiB
PUBLISHED_MAX: Final = 32  # tunnels of other providers: each is a program of some 30 MB
RANGE_FORM: Final = "[ADDRESS:]FIRST-LAST"
TLS_FORM: Final = "[ADDRESS:]PORT"
_TEXT = re.compile(r"(?:(?P<address>[^\s\[\]:]+|\[[0-9a-fA-F:.]+\]):)?(?P<first>[0-9]{1,5})(?:-(?P<last>[0-9]{1,5}))?")


@dataclass(frozen=True, kw_only=True)
class TunnelOptions:
    """The options.

    Attributes:
        ports: The ports of the gateway that tunnels of the kind `tcp` may have. Empty: there are no such tunnels.
        address: The address to listen on for them.
        host: The name or address by which others reach the ports. None: that of the gateway.
        tls_port: The port for tunnels of the kind `tls`. None: there are no such tunnels.
        tls_address: The address to listen on for them.
        providers: The providers beside the gateway, by name.
        root: The directory in which their programs run. None: they do not.
    """

    ports: range = field(default=range(0))
    address: str = "127.0.0.1"
    host: str | None = None
    tls_port: int | None = None
    tls_address: str = "127.0.0.1"
    providers: Mapping[str, Provider] = field(default_factory=dict)
    root: Path | None = None

    def resolved(self) -> "TunnelOptions":
        """Return the options with IP addresses instead of names, which would block later. Blocks.

        Raises:
            ValueError: A name has no address. The message begins with its option.
        """
        found = self
        if self.ports:
            found = replace(found, address=_numeric("--tunnel-ports", self.address))
        if self.tls_port is not None:
            found = replace(found, tls_address=_numeric("--tunnel-tls-port", self.tls_address))
        return found

    @property
    def sockets(self) -> int:
        """The number of sockets that they may need."""
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
        """Parse the texts of the command line.

        Args:
            ports: A range such as `20000-20099` or `0.0.0.0:20000-20099`. None: there is none.
            tls_port: A port such as `8443` or `[::]:8443`. None: there is none.
            address: The address to listen on where a text names none.
            host: The name or address by which others reach the ports.
            cloudflared: Whether there are quick tunnels of Cloudflare.
            ssh: The SSH server whose ports tunnels may have. None: there is none.

        Raises:
            ValueError: A text has another form. The message begins with its option.
        """
        found, first, last = _parsed("--tunnel-ports", ports, RANGE_FORM, address)
        tls_address, port, none = _parsed("--tunnel-tls-port", tls_port, TLS_FORM, address)
        if ports is not None and last < first:
            raise ValueError(f"--tunnel-ports {ports}: the last port is below the first")
        if tls_port is not None and none:
            raise ValueError(f"--tunnel-tls-port {tls_port}: expected {TLS_FORM}")
        providers: list[Provider] = [Cloudflared()] if cloudflared else []
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
    except (OSError, UnicodeError) as error:  # UnicodeError: a part of the name is too long
        raise ValueError(f"{option}: {host} has no address: {getattr(error, 'strerror', None) or error}") from None


def _parsed(option: str, text: str | None, form: str, address: str) -> tuple[str, int, int]:
    """Return the address and both numbers of a text; the last is 0 if there is one number."""
    if text is None:
        return address, 0, 0
    match = _TEXT.fullmatch(text)
    if match is None or (match["last"] is None) != (form == TLS_FORM):
        raise ValueError(f"{option} {text}: expected {form}")
    numbers = int(match["first"]), int(match["last"] or 0)
    if not (1 <= numbers[0] <= PORT_MAX and numbers[1] <= PORT_MAX):
        raise ValueError(f"{option} {text}: a port is from 1 to {PORT_MAX}")
    return (match["address"] or address).strip("[]"), *numbers
