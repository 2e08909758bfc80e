"""Other tunnel providers: their programs, arguments and output formats. No I/O.

Each program runs in its own directory and connects to a Unix socket there. Tunnels therefore need no ports on the
machine.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Final, NamedTuple

from hawse.api.tunnels import TunnelKind, TunnelProvider

SOCKET: Final = "socket"  # the socket in a tunnel's directory that the program connects to
SAID_MAX: Final = 300  # maximum length of the line that explains why the program exited
PORT_MAX: Final = 65_535
OURS: Final = "HAWSE_"  # prefix of environment variables that aren't passed to programs, because some contain tokens
SSH_FORM: Final = "[USER@]HOST or ssh://[USER@]HOST[:PORT]"

_LOGGED: Final = re.compile(r"\d{4}-\d\d-\d\dT\S+ [A-Z]{3} ")  # start of each cloudflared log line
_QUICK: Final = re.compile(r"https://(?!api\.)[a-z0-9-]+\.trycloudflare\.com(?![a-z0-9.-])")
_OF_NETWORK: Final = ("TUNNEL_EDGE_", "TUNNEL_TRANSPORT_PROTOCOL")  # the protocols for connections to Cloudflare
_ALLOCATED: Final = re.compile(r"Allocated port ([0-9]{1,5}) for remote forward to ")
_FORWARDED: Final = re.compile(r"debug1: remote forward success for: listen .*?([0-9]{1,5}), connect ")
_USER: Final = r"(?:[A-Za-z0-9_][A-Za-z0-9_.+-]*@)?"
_HOST: Final = r"([A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])"
_DESTINATION: Final = re.compile(rf"{_USER}{_HOST}")
_URI: Final = re.compile(rf"ssh://{_USER}{_HOST}(?::([0-9]{{1,5}}))?")
# Matches lines in the output of `ssh -v` that don't explain why ssh exited, with or without the prefix `debug1:`.
_CHATTER: Final = (
    "debug1:",
    "OpenSSH_",
    "Allocated port",
    "Warning: Permanently",
    "Authenticated to ",
    "Transferred: ",
    "Bytes per second: ",
)


class Published(NamedTuple):
    """The address that a program has reported.

    Attributes:
        url: The address for visitors.
        port: The port, which the next start requests as well. None if each start gets a new address.
    """

    url: str
    port: int | None = None


class Output(ABC):
    """Reads the lines that a program writes in one run.

    Attributes:
        said: The last line after the address that may explain why the program exited, up to SAID_MAX characters.
    """

    said = ""

    def read(self, line: str) -> Published | None:
        """Process a line. Return the address once the lines show that it is usable."""
        text = "".join(character for character in line if character.isprintable()).strip()
        if explanation := self._explanation(text):
            self.said = explanation[:SAID_MAX]
        published = self._published(text)
        if published is not None:
            self.said = ""
        return published

    @abstractmethod
    def _explanation(self, line: str) -> str: ...

    @abstractmethod
    def _published(self, line: str) -> Published | None: ...


class PublicAddressProvider(ABC):
    """A provider of public addresses.

    Attributes:
        name: Its name in the API.
        kind: The kind of tunnel it provides.
        program: The name of the required program.
        install: How to install the program.
        files: The contents of the files in the program's directory, keyed by file name.
    """

    name: TunnelProvider
    kind: TunnelKind
    program: str
    install: str
    files: Mapping[str, str] = {}

    @abstractmethod
    def arguments(self, port: int | None) -> list[str]:
        """Return the program's arguments. `port` is the requested public port. None means any port."""

    def environment(self, own: Mapping[str, str]) -> dict[str, str]:
        """Return the program's environment variables, based on `own`, the gateway's variables."""
        return {name: value for name, value in own.items() if not name.startswith(OURS)}

    @abstractmethod
    def output(self) -> Output:
        """Return a reader for one run's output."""


class Cloudflared(PublicAddressProvider):
    """Cloudflare quick tunnels for HTTP. These tunnels need no account, and get a new address each time the program is
    started."""

    name = "cloudflared"
    kind = "http"
    program = "cloudflared"
    install = "see Cloudflare Tunnel's download page"
    # Without this file, the program would apply the ingress rules of the user's own tunnels.
    files: Mapping[str, str] = {"config.yml": f"ingress:\n  - service: unix:{SOCKET}\n"}

    def arguments(self, port: int | None) -> list[str]:
        # `--url` selects a quick tunnel (`--unix-socket` does not). The rules in config.yml override the value of
        # `--url`.
        ends = ["--grace-period", "1s", "--no-autoupdate"]
        return ["tunnel", "--config", "config.yml", "--metrics", "127.0.0.1:0", *ends, "--url", "http://localhost"]

    def environment(self, own: Mapping[str, str]) -> dict[str, str]:
        # Other TUNNEL_ variables would select a tunnel that belongs to an account, or hide the log.
        found = super().environment(own)
        return {name: found[name] for name in found if not name.startswith("TUNNEL_") or name.startswith(_OF_NETWORK)}

    def output(self) -> Output:
        return _CloudflaredOutput()


class _CloudflaredOutput(Output):
    def __init__(self) -> None:
        self._url: str | None = None

    def _explanation(self, line: str) -> str:
        return "" if " INF " in line[:40] else _LOGGED.sub("", line)

    def _published(self, line: str) -> Published | None:
        if found := _QUICK.search(line):
            self._url = found[0]
        if self._url is not None and "Registered tunnel connection" in line:
            return Published(self._url)
        return None


class Ssh(PublicAddressProvider):
    """Ports on an SSH server (`ssh -R`) for TCP connections. A tunnel keeps its port when the program is restarted."""

    name = "ssh"
    kind = "tcp"
    program = "ssh"
    install = "apt install openssh-client"

    def __init__(self, destination: str) -> None:
        """Create the provider.

        Args:
            destination: The server, in the form SSH_FORM. Visitors connect to its host.

        Raises:
            ValueError: The destination is invalid.
        """
        match = _DESTINATION.fullmatch(destination) or _URI.fullmatch(destination)
        if match is None:
            raise ValueError(f"expected {SSH_FORM}")
        if match.re is _URI and not 1 <= int(match[2] or 22) <= PORT_MAX:
            raise ValueError(f"ports are from 1 to {PORT_MAX}")
        self._destination = destination
        self._host = match[1]

    def arguments(self, port: int | None) -> list[str]:
        options = {
            "BatchMode": "yes",  # ssh must never ask for input
            "ExitOnForwardFailure": "yes",
            "ConnectTimeout": 10,
            "ServerAliveInterval": 15,
            "ServerAliveCountMax": 3,
            "ControlMaster": "no",  # don't use a shared connection, which would outlive the program
            "ControlPath": "none",
            "ForwardAgent": "no",
            "ForwardX11": "no",
            "PermitLocalCommand": "no",
        }
        arguments = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
        # `-v` reports the port even if a specific one was requested. `*` lets the server choose the addresses to listen
        # on.
        return ["-v", "-N", "-T", *arguments, "-R", f"*:{port or 0}:./{SOCKET}", "--", self._destination]

    def output(self) -> Output:
        return _SshOutput(self._host)


class _SshOutput(Output):
    def __init__(self, host: str) -> None:
        self._host = host

    def _explanation(self, line: str) -> str:
        return "" if line.startswith(_CHATTER) else line

    def _published(self, line: str) -> Published | None:
        found = _ALLOCATED.match(line) or _FORWARDED.match(line)
        port = 0 if found is None else int(found[1])  # 0 in a request means any port
        return Published(f"tcp://{self._host}:{port}", port) if 0 < port <= PORT_MAX else None
