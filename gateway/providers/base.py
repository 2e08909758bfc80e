"""The interface of a sandbox provider: how to create sandboxes, connect to them, and verify that they have ended.

All methods are coroutines, so that a provider may ask a Docker daemon or the API of a cluster. The gateway knows no
other way to a sandbox (docs/decisions/0053).
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from hawse.api.gateway import Isolation, SandboxInfo


class TcpAddress(NamedTuple):
    """The address of a runtime that listens on TCP."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Endpoint:
    """Where the runtime of a sandbox accepts links.

    Attributes:
        address: The path of a Unix socket, or a TCP address.
        token: What the gateway sends in `hello`. None if access to the address is protection enough.
    """

    address: Path | TcpAddress
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a provider can do on this machine.

    Attributes:
        provider: Its name in `--provider`.
        isolation: What new sandboxes run in.
        isolation_reason: Why the isolation is not stronger. None if it is the strongest of this provider.
        images: Whether `SandboxSpec.image` is supported.
    """

    provider: str
    isolation: Isolation
    isolation_reason: str | None = None
    images: bool = False


@dataclass(frozen=True, kw_only=True)
class SandboxSpec:
    """What a new sandbox is to be.

    Attributes:
        id: Its id: 1 to 64 letters, digits, `_`, `.` or `-`, of which the first is a letter or a digit. None: the
            provider chooses one.
        image: The image whose files the sandbox sees. None: the provider's default.
    """

    id: str | None = None
    image: str | None = None


class ProviderError(Exception):
    """The provider cannot be used with these settings. The message contains what to change."""


class Provider(Protocol):
    """Creates, finds and removes sandboxes. Methods may be called concurrently."""

    async def capabilities(self) -> Capabilities: ...

    async def create(self, spec: SandboxSpec) -> SandboxInfo:
        """Create a sandbox, without starting it.

        Raises:
            HawseError: `conflict` if the id is taken, `invalid_params` if the provider does not support the spec.
        """
        ...

    async def ensure(self, sandbox: str) -> Endpoint:
        """Return the endpoint of the sandbox's runtime, which is started if it does not run.

        Raises:
            HawseError: `not_found` for an unknown id, `unavailable` if the runtime cannot be started.
        """
        ...

    async def stop(self, sandbox: str) -> None:
        """End the runtime and all that runs in the sandbox. Return when it is verified that all of it has ended.

        Raises:
            HawseError: `not_found` for an unknown id, `unavailable` if something of it still runs.
        """
        ...

    async def delete(self, sandbox: str) -> None:
        """Stop the sandbox and remove its files. Raises `HawseError` as `stop` does."""
        ...

    async def observe(self, sandbox: str) -> SandboxInfo:
        """Return the current state of one sandbox, without starting it. Raises `HawseError` `not_found`."""
        ...

    async def discover(self) -> list[SandboxInfo]:
        """Return all sandboxes of this provider, also those that an earlier gateway created."""
        ...

    async def close(self) -> None:
        """Release what the provider holds in this process. Sandboxes go on running."""
        ...
