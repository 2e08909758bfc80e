"""The interface of a sandbox provider: how sandboxes are created, started, observed, and verified to have ended.

All methods are coroutines, so that a provider can ask a Docker daemon or a cluster's API. Providers decide nothing:
`hawse_gateway.sandboxes` decides when a sandbox is started or stopped, writes that to the store first, and never calls
two changing methods for one unit at the same time (docs/decisions/0075).

A *unit* is a provider's form of a sandbox: a directory and a process, or a volume and a container. Its name has 1 to 64
letters, digits, `_`, `.` or `-`, starting with a letter or digit. A *runtime id* identifies one start of a unit. The
provider attaches it to everything it starts, in order to tell starts apart later.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol

import msgspec

from hawse.api.egress import EgressLost, EgressPolicy, EgressRequest
from hawse.api.images import ImageInfo
from hawse.api.sandboxes import Enforcement, Isolation, Network, SandboxLimits
from hawse_gateway.egress.control import Status
from hawse_gateway.egress.follower import EgressFollower

MACHINE: Final = "machine:"  # prefix of a `MachineAddress` as text


class TcpAddress(NamedTuple):
    """The address of a runtime that listens on TCP."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class MachineAddress(NamedTuple):
    """The address of a runtime whose machine is connected to this gateway: the name of its unit."""

    unit: str

    def __str__(self) -> str:
        return f"{MACHINE}{self.unit}"


@dataclass(frozen=True)
class Endpoint:
    """The address where a sandbox's runtime accepts links.

    Attributes:
        address: The path of a Unix socket, a TCP address, or a machine that is connected.
        token: The token sent in `hello`. None if access to the address is sufficient protection.
        uid: The user whose process must listen on the Unix socket. None: any user.
        certificate: The required certificate of the server at the TCP address, in PEM. None disables TLS.
        runtime: The id of a runtime that chose it itself. None: the id passed to `start`.
    """

    address: Path | TcpAddress | MachineAddress
    token: str | None = field(default=None, repr=False)
    uid: int | None = None
    certificate: str | None = field(default=None, repr=False)
    runtime: str | None = None


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """The capabilities of a provider on this machine.

    Attributes:
        provider: Its name in `--provider` and in `sandbox.create`.
        isolation: The isolation of new sandboxes.
        isolation_reason: Why the isolation is not stronger. None if it is this provider's strongest.
        images: Whether `SandboxSpec.image` is supported.
        networks: The supported values of `SandboxSpec.network`; the first is the default.
        installable: How to install missing software for other networks, by network.
        refused: Why other networks are not supported, by network.
        limits: The names of the enforced fields of `SandboxLimits`.
        enforcement: The enforcement for a sandbox without special requests.
        pause: Whether `pause` and `resume` are supported.
        start_timeout: The maximum seconds of a start.
        remote: Whether sandboxes use the memory and the disk of other machines.
        joined: Whether its sandboxes are machines that connect themselves: a new one waits for its machine.
    """

    provider: str
    isolation: Isolation
    isolation_reason: str | None = None
    images: bool = False
    networks: tuple[Network, ...] = ("host",)
    installable: Mapping[Network, str] = field(default_factory=dict)
    refused: Mapping[Network, str] = field(default_factory=dict)
    limits: tuple[str, ...] = ()
    enforcement: Enforcement = field(default_factory=Enforcement)
    pause: bool = False
    start_timeout: float = 60.0
    remote: bool = False
    joined: bool = False

    def enforced(self, spec: "SandboxSpec") -> Enforcement:
        """Return the enforcement for a sandbox."""
        limits = {name: getattr(spec.limits, name) or getattr(self.enforcement.limits, name) for name in self.limits}
        network = spec.network or self.enforcement.network
        return msgspec.structs.replace(self.enforcement, network=network, limits=SandboxLimits(**limits))


class SandboxSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The specification of a sandbox. It is stored before the unit is created, so every field must be valid JSON.

    Attributes:
        image: The image with the sandbox's files. None: the provider's default.
        image_command: Whether to start the image's command in it.
        env: The environment of all programs in the sandbox.
        network: What the sandbox can connect to. None: the provider's default.
        limits: The resource limits.
        egress: The policy of a filtered network. None: nothing is let through.
    """

    image: str | None = None
    image_command: bool = False
    env: dict[str, str] = {}
    network: Network | None = None
    limits: SandboxLimits = msgspec.field(default_factory=SandboxLimits)
    egress: EgressPolicy | None = None


@dataclass(frozen=True, kw_only=True)
class Observation:
    """A provider's view of one unit.

    Attributes:
        unit: Its name.
        state: `absent`: nothing of it exists. `stopped`: its files exist, but nothing of it runs. `running`: its
            runtime accepts links. `paused`: its processes are suspended by `pause`. `frozen`: its runtime exists but
            does not proceed, for example after SIGSTOP. `unreachable`: something of it runs, but no runtime accepts
            links: it is starting, ending, or has lost its socket.
        runtime: The id of the start that the running processes belong to. None if nothing runs, or if it is unknown.
        endpoint: Its runtime's address. None unless it is `running` or `frozen`.
        isolation: Its isolation. None if unknown.
        keeps: Whether it has files that outlive its processes.
        reason: An explanation of the state for people, if needed.
    """

    unit: str
    state: Literal["absent", "stopped", "running", "paused", "frozen", "unreachable"]
    runtime: str | None = None
    endpoint: Endpoint | None = None
    isolation: Isolation | None = None
    keeps: bool = True
    reason: str | None = None

    @property
    def gone(self) -> bool:
        """Whether nothing of the unit is verified to run."""
        return self.state in ("absent", "stopped")


@dataclass(frozen=True, kw_only=True)
class MountPlace:
    """The place for mounting file systems in a running unit.

    Attributes:
        pid: A process of this machine in the programs' mount namespace.
        user: The user and group of the programs, in their user namespace.
        workspace: The directory of the user's files, as the programs see it.
    """

    pid: int
    user: int
    workspace: str


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a start.

    Attributes:
        phase: The current phase: `creating`, `pulling`, `starting`, `connecting`.
        message: Details for people, such as the layer being downloaded.
        done: The completed part, 0 to 1. None if unknown.
    """

    phase: str
    message: str | None = None
    done: float | None = None


Report = Callable[[Progress], None]


class ProviderError(Exception):
    """The provider cannot be used with these settings. The message explains what to change."""


class ImageStore(Protocol):
    """The images of a provider. All methods raise `HawseError` (`unavailable`) if the provider cannot be reached."""

    async def list(self) -> list[ImageInfo]:
        """Return all available images."""
        ...

    async def pull(self, image: str, report: Report) -> ImageInfo:
        """Pull an image, including a newer version of an existing one, and return it.

        Args:
            image: Its name with a tag or digest. The default tag is `latest`.
            report: Called with the progress.

        Raises:
            HawseError: `invalid_params` if it does not exist or access is denied.
        """
        ...

    async def remove(self, image: str) -> None:
        """Remove a name of an image. Raises `HawseError` (`not_found`; `conflict` if a sandbox uses it)."""
        ...


class Egress(Protocol):
    """The proxies of filtered networks of a provider."""

    @property
    def follower(self) -> EgressFollower:
        """The follower of the proxies, which runs as part of the provider's `run`."""
        ...

    def want(self, policies: Mapping[str, EgressPolicy]) -> None:
        """Set the policies of running units' proxies, by unit. The proxies receive them soon."""
        ...

    async def apply(self, unit: str, policy: EgressPolicy) -> None:
        """Apply a policy to a unit's proxy, if it has one. Raises `HawseError` `unavailable`."""
        ...

    async def status(self, unit: str) -> Status | None:
        """Return the status of a unit's proxy, or None if it has none."""
        ...

    def watch(self, unit: str, *, allowed: bool) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
        """Yield the decisions of a unit's proxy until it ends; return at once if there is none.

        Args:
            unit: The unit.
            allowed: Whether to report forwarded requests, too.
        """
        ...


class Provider(Protocol):
    """Creates, finds and removes units. Methods may be called concurrently for different units."""

    @property
    def images(self) -> ImageStore | None:
        """The images for sandboxes, if supported."""
        ...

    @property
    def egress(self) -> Egress | None:
        """The proxies of filtered networks, if supported."""
        ...

    async def run(self) -> None:
        """Follow changes until cancelled. A provider that only answers returns at once."""
        ...

    async def capabilities(self) -> Capabilities: ...

    async def create(self, unit: str, spec: SandboxSpec, report: Report) -> None:
        """Create the lasting parts of a unit: directories, volumes, the image. Nothing is started.

        It may be repeated after a failure, so existing parts are not an error.

        Args:
            unit: The name of the unit.
            spec: The specification.
            report: Called with the progress.

        Raises:
            HawseError: `invalid_params` if the specification cannot be fulfilled, for example if the image does not
                exist; otherwise `unavailable`.
        """
        ...

    async def start(self, unit: str, spec: SandboxSpec, runtime: str, report: Report) -> Endpoint:
        """Start a runtime, and return once it accepts links. Nothing of the unit is running when this is called.

        After a failure or cancellation, remaining processes may be left to `stop`.

        Args:
            unit: The name of a unit created with `create`.
            spec: The specification; `env` may differ from the one passed to `create`.
            runtime: The runtime id of this start, passed to the runtime as `--id`.
            report: Called with the progress.

        Raises:
            HawseError: `unavailable` if the runtime cannot be started.
        """
        ...

    async def stop(self, unit: str, runtime: str | None = None) -> None:
        """End all processes of the unit. Return once all of them are verified to have ended.

        A unit that is not running or does not exist is not an error.

        Args:
            unit: The name of the unit.
            runtime: Only end the start with this runtime id. None: any.

        Raises:
            HawseError: `unavailable` if something of it is still running.
        """
        ...

    async def delete(self, unit: str) -> None:
        """Stop the unit and remove its files. Does nothing if it does not exist. Raises the same errors as `stop`."""
        ...

    async def pause(self, unit: str) -> None:
        """Suspend all processes of a running unit, if the provider supports it. Raises the same errors as `stop`."""
        ...

    async def resume(self, unit: str) -> None:
        """Resume a paused unit. Raises `HawseError` (`unavailable`)."""
        ...

    async def observe(self, unit: str, runtime: str | None = None) -> Observation:
        """Return the state of one unit, without starting it.

        Args:
            unit: The name of the unit.
            runtime: The start expected to run. A provider that remembers another one checks again.

        Raises:
            HawseError: `unavailable` if the state is unknown.
        """
        ...

    async def discover(self) -> list[Observation]:
        """Return all units of this provider, including those of earlier gateways and versions.

        Raises:
            HawseError: `unavailable` if the list is incomplete, for example because a daemon does not respond.
        """
        ...

    async def mount_place(self, unit: str) -> MountPlace:
        """Return the place for mounting file systems in a running unit.

        Raises:
            HawseError: `unavailable` if it is not running, or if the provider does not support mounts.
        """
        ...

    async def close(self) -> None:
        """Release this process's resources. Units keep running."""
        ...
