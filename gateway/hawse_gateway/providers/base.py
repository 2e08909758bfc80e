"""The interface of a sandbox provider, which creates, starts, observes and ends sandboxes.

All methods are coroutines, so that a provider can call a Docker daemon or a cluster's API. Providers make no decisions:
`hawse_gateway.sandboxes` decides when to start or stop a sandbox, records the decision in the store first, and never
calls two methods that change the same unit at the same time (docs/decisions/0075).

A *unit* is a provider's implementation of a sandbox: a directory and a process, or a volume and a container. Its name
has 1 to 64 letters, digits, `_`, `.` or `-`, starting with a letter or digit. A *runtime id* identifies one start of a
unit. The provider attaches it to everything that it starts, so that starts can be distinguished later.
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
    """The TCP address of a runtime."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class MachineAddress(NamedTuple):
    """The address of a runtime on a connected machine: the name of its unit."""

    unit: str

    def __str__(self) -> str:
        return f"{MACHINE}{self.unit}"


@dataclass(frozen=True)
class Endpoint:
    """The address where a sandbox's runtime accepts links.

    Attributes:
        address: The path of a Unix socket, a TCP address, or a connected machine.
        token: The token for `hello`. None if access to the address is sufficient authentication.
        uid: The user whose process must listen on the Unix socket. None means any user.
        certificate: The required certificate of the server at the TCP address, in PEM. None disables TLS.
        runtime: The id of a runtime that chooses its own id. None means the id passed to `start`.
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
        isolation_reason: The reason why the isolation is not stronger. None if it is this provider's strongest
            isolation.
        images: Whether `SandboxSpec.image` is supported.
        networks: The supported values of `SandboxSpec.network`. The first value is the default.
        installable: For each network that needs missing software, how to install it.
        refused: For each other unsupported network, the reason.
        limits: The names of the enforced fields of `SandboxLimits`.
        enforcement: The enforcement for a sandbox with default settings.
        pause: Whether `pause` and `resume` are supported.
        start_timeout: The maximum duration of a start, in seconds.
        remote: Whether sandboxes use the memory and disk of other machines.
        joined: Whether its sandboxes are machines that connect to the gateway. A new sandbox then waits for its
            machine.
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
    """The specification of a sandbox. It is stored before the unit is created, so all fields must be JSON-serializable.

    Attributes:
        image: The image with the sandbox's files. None means the provider's default.
        image_command: Whether to start the image's command in the sandbox.
        env: The environment of all programs in the sandbox.
        network: The network that the sandbox can connect to. None means the provider's default.
        limits: The resource limits.
        egress: The policy of a filtered network. None blocks all requests.
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
        state: `absent`: the unit does not exist. `stopped`: its files exist, but no processes. `running`: its runtime
            accepts links. `paused`: its processes are suspended by `pause`. `frozen`: its runtime exists but makes no
            progress, for example after SIGSTOP. `unreachable`: processes exist, but no runtime accepts links, because
            the unit is starting, ending, or has lost its socket.
        runtime: The runtime id of the running processes. None if no process runs or the id is unknown.
        endpoint: The runtime's address. None unless the state is `running` or `frozen`.
        isolation: The unit's isolation. None if unknown.
        keeps: Whether the unit has files that outlive its processes.
        reason: A human-readable explanation of the state, or None.
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
        """Whether it is verified that nothing of the unit runs."""
        return self.state in ("absent", "stopped")


@dataclass(frozen=True, kw_only=True)
class MountPlace:
    """The information for mounting file systems in a running unit.

    Attributes:
        pid: A process of this machine in the mount namespace of the unit's programs.
        user: The user and group of the programs, in their user namespace.
        workspace: The path of the user's files in the programs' mount namespace.
    """

    pid: int
    user: int
    workspace: str


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a start.

    Attributes:
        phase: The current phase: `creating`, `pulling`, `starting`, `connecting`.
        message: Human-readable details, such as the layer being downloaded.
        done: The completed fraction, 0 to 1. None if unknown.
    """

    phase: str
    message: str | None = None
    done: float | None = None


Report = Callable[[Progress], None]


class ProviderError(Exception):
    """The provider cannot be used with these settings. The message states what to change."""


class ImageStore(Protocol):
    """The images of a provider. All methods raise `HawseError` (`unavailable`) if the provider cannot be reached."""

    async def list(self) -> list[ImageInfo]:
        """Return all available images."""
        ...

    async def pull(self, image: str, report: Report) -> ImageInfo:
        """Pull an image, or a newer version of an existing image, and return it.

        Args:
            image: Its name with a tag or digest. The default tag is `latest`.
            report: Called with the progress.

        Raises:
            HawseError: `invalid_params` if the image does not exist or access is denied.
        """
        ...

    async def remove(self, image: str) -> None:
        """Remove a name of an image. Raises `HawseError` (`not_found`; `conflict` if a sandbox uses the image)."""
        ...


class Egress(Protocol):
    """The proxies of a provider's filtered networks."""

    @property
    def follower(self) -> EgressFollower:
        """The follower of the proxies. The provider's `run` runs it."""
        ...

    def want(self, policies: Mapping[str, EgressPolicy]) -> None:
        """Set the policies for the proxies of running units, by unit. `run` sends them to the proxies."""
        ...

    async def apply(self, unit: str, policy: EgressPolicy) -> None:
        """Apply a policy to a unit's proxy, if it has one. Raises `HawseError` (`unavailable`)."""
        ...

    async def status(self, unit: str) -> Status | None:
        """Return the status of a unit's proxy, or None without a proxy."""
        ...

    def watch(self, unit: str, *, allowed: bool) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
        """Yield the decisions of a unit's proxy until the proxy ends. Yield nothing without a proxy.

        Args:
            unit: The unit.
            allowed: Whether to include forwarded requests.
        """
        ...


class Provider(Protocol):
    """Creates, finds and removes units. Methods can be called concurrently for different units."""

    @property
    def images(self) -> ImageStore | None:
        """The images for sandboxes, if supported."""
        ...

    @property
    def egress(self) -> Egress | None:
        """The proxies of filtered networks, if supported."""
        ...

    async def run(self) -> None:
        """Run background tasks until cancelled. Return immediately if the provider has none."""
        ...

    async def capabilities(self) -> Capabilities: ...

    async def create(self, unit: str, spec: SandboxSpec, report: Report) -> None:
        """Create the persistent parts of a unit, such as directories, volumes and the image, without starting it.

        The call can be repeated after a failure, so existing parts are not an error.

        Args:
            unit: The name of the unit.
            spec: The specification.
            report: Called with the progress.

        Raises:
            HawseError: `invalid_params` if the provider cannot meet the specification, for example if the image does
                not exist; otherwise `unavailable`.
        """
        ...

    async def start(self, unit: str, spec: SandboxSpec, runtime: str, report: Report) -> Endpoint:
        """Start a runtime, and return when it accepts links. The caller ensures that the unit is not running.

        After a failure or cancellation, processes can remain until `stop` is called.

        Args:
            unit: The name of a unit created with `create`.
            spec: The specification. `env` can differ from the value passed to `create`.
            runtime: The runtime id of this start. The runtime gets it as `--id`.
            report: Called with the progress.

        Raises:
            HawseError: `unavailable` if the runtime cannot be started.
        """
        ...

    async def stop(self, unit: str, runtime: str | None = None) -> None:
        """End all processes of the unit, and return when it is verified that all have ended.

        It is not an error if the unit is not running or does not exist.

        Args:
            unit: The name of the unit.
            runtime: Only end the start with this runtime id. None ends any start.

        Raises:
            HawseError: `unavailable` if a process may still be running.
        """
        ...

    async def delete(self, unit: str) -> None:
        """Stop the unit and remove its files. Has no effect if it does not exist. Raises the same errors as `stop`."""
        ...

    async def pause(self, unit: str) -> None:
        """Suspend all processes of a running unit, if the provider supports it. Raises the same errors as `stop`."""
        ...

    async def resume(self, unit: str) -> None:
        """Resume a paused unit. Raises `HawseError` (`unavailable`)."""
        ...

    async def observe(self, unit: str, runtime: str | None = None) -> Observation:
        """Return the state of a unit.

        Args:
            unit: The name of the unit.
            runtime: The runtime id that the caller expects. If a cached state has a different id, the provider updates
                it.

        Raises:
            HawseError: `unavailable` if the state is unknown.
        """
        ...

    async def discover(self) -> list[Observation]:
        """Return all units of this provider, including units of earlier gateways and versions.

        Raises:
            HawseError: `unavailable` if the list is incomplete, for example because a daemon does not respond.
        """
        ...

    async def mount_place(self, unit: str) -> MountPlace:
        """Return the information for mounting file systems in a running unit.

        Raises:
            HawseError: `unavailable` if the unit is not running or the provider does not support mounts.
        """
        ...

    async def close(self) -> None:
        """Release the resources of this process. Units keep running."""
        ...
