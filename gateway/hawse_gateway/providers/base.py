"""The interface for sandbox providers, which create, start, observe and end sandboxes.

All methods are coroutines, so a provider can call a Docker daemon or a cluster API. Providers make no decisions:
`hawse_gateway.sandboxes` decides when to start or stop a sandbox, and records the decision in the store first. It never
calls two methods that change the same unit at the same time (docs/decisions/0075).

A *unit* is a provider's implementation of a sandbox: a directory and a process, or a volume and a container. Its name
consists of 1 to 64 letters, digits, `_`, `.` or `-`, and must start with a letter or digit. A *runtime id* identifies
one start of a unit. The provider attaches the runtime id to everything it starts, so that different starts can be
distinguished later.
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

MACHINE: Final = "machine:"  # prefix for the text form of a `MachineAddress`


class TcpAddress(NamedTuple):
    """The TCP address of a runtime."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class MachineAddress(NamedTuple):
    """The address of a runtime on a connected machine: the name of the runtime's unit."""

    unit: str

    def __str__(self) -> str:
        return f"{MACHINE}{self.unit}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address where a sandbox's runtime accepts links.

    Attributes:
        address: The path of a Unix socket, a TCP address, or a connected machine.
        token: The token to send in `hello`. None if being able to connect to the address is sufficient authentication.
        uid: The user whose process must listen on the Unix socket. None means any user.
        certificate: The certificate that the server at the TCP address must present, in PEM. None disables TLS.
        runtime: The runtime id, if the runtime chose its own. None means the id passed to `start`.
    """

    address: Path | TcpAddress | MachineAddress
    token: str | None = field(default=None, repr=False)
    uid: int | None = None
    certificate: str | None = field(default=None, repr=False)
    runtime: str | None = None


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """A provider's capabilities on this machine.

    Attributes:
        provider: The provider's name in `--provider` and in `sandbox.create`.
        isolation: The isolation used for new sandboxes.
        isolation_reason: The reason why the isolation is not stronger. None if this provider offers no stronger one.
        images: Whether `SandboxSpec.image` is supported.
        networks: The supported values of `SandboxSpec.network`. The first value is the default.
        installable: Installation instructions for each network that needs missing software.
        refused: For each other unsupported network, the reason why it can't be used.
        limits: The names of the `SandboxLimits` fields that are enforced.
        enforcement: How limits are enforced for a sandbox with default settings.
        pause: Whether `pause` and `resume` are supported.
        start_timeout: The maximum duration of a start, in seconds.
        remote: Whether sandboxes use the memory and disk of other machines.
        joined: Whether the provider's sandboxes are machines that connect to the gateway. If true, a new sandbox waits
            for its machine to connect.
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
        """Return how limits are enforced for a sandbox."""
        limits = {name: getattr(spec.limits, name) or getattr(self.enforcement.limits, name) for name in self.limits}
        network = spec.network or self.enforcement.network
        return msgspec.structs.replace(self.enforcement, network=network, limits=SandboxLimits(**limits))


class SandboxSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sandbox's specification. It is stored before the unit is created, so all fields must be JSON-serializable.

    Attributes:
        image: The image for the sandbox's file system. None means the provider's default.
        image_command: Whether to run the image's command in the sandbox.
        env: Environment variables for all programs in the sandbox.
        network: The network that programs in the sandbox can use. None means the provider's default.
        limits: The resource limits.
        egress: The policy for a filtered network. None blocks all requests.
    """

    image: str | None = None
    image_command: bool = False
    env: dict[str, str] = {}
    network: Network | None = None
    limits: SandboxLimits = msgspec.field(default_factory=SandboxLimits)
    egress: EgressPolicy | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """A provider's view of one unit.

    Attributes:
        unit: The unit's name.
        state: `absent`: the unit does not exist. `stopped`: it has files, but no processes. `running`: its runtime
            accepts links. `paused`: its processes were suspended by `pause`. `frozen`: its runtime exists but makes no
            progress, for example after SIGSTOP. `unreachable`: it has processes, but no runtime that accepts links,
            because it is starting or ending or has lost its socket.
        runtime: The runtime id of the running processes. None if no processes are running or the id is unknown.
        endpoint: The runtime's endpoint. None unless the state is `running` or `frozen`.
        isolation: The unit's isolation. None if unknown.
        keeps: Whether the unit has files that are kept after its processes end.
        reason: A human-readable explanation for the state, or None.
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
        """Whether the unit is confirmed to have no running processes."""
        return self.state in ("absent", "stopped")


@dataclass(frozen=True, kw_only=True)
class MountPlace:
    """Information needed to mount file systems in a running unit.

    Attributes:
        pid: The pid, on this machine, of a process in the mount namespace of the unit's programs.
        user: The programs' user and group ids in their user namespace.
        workspace: The path to the user's files in the programs' mount namespace.
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
    """A provider's images. All methods raise `HawseError` (`unavailable`) if the provider can't be reached."""

    async def list(self) -> list[ImageInfo]:
        """Return all available images."""
        ...

    async def pull(self, image: str, report: Report) -> ImageInfo:
        """Pull an image, or a newer version of an existing image, and return it.

        Args:
            image: The image name with a tag or digest. The default tag is `latest`.
            report: Called with the progress.

        Raises:
            HawseError: `invalid_params` if the image does not exist or access is denied.
        """
        ...

    async def remove(self, image: str) -> None:
        """Remove a name from an image. Raises `HawseError` (`not_found`, or `conflict` if a sandbox uses the image)."""
        ...


class Egress(Protocol):
    """The proxies for a provider's filtered networks."""

    @property
    def follower(self) -> EgressFollower:
        """The follower that collects the proxies' refusals. The provider's `run` method runs the follower."""
        ...

    def want(self, policies: Mapping[str, EgressPolicy]) -> None:
        """Set the policies for running units' proxies, keyed by unit. `run` sends them to the proxies."""
        ...

    async def apply(self, unit: str, policy: EgressPolicy) -> None:
        """Apply a policy to a unit's proxy, if the unit has one. Raises `HawseError` (`unavailable`)."""
        ...

    async def status(self, unit: str) -> Status | None:
        """Return the status of a unit's proxy, or None if it has no proxy."""
        ...

    def watch(self, unit: str, *, allowed: bool) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
        """Yield the decisions made by a unit's proxy until the proxy ends. Yield nothing if there is no proxy.

        Args:
            unit: The unit.
            allowed: Whether to include forwarded requests.
        """
        ...


class Provider(Protocol):
    """Creates, finds and removes units. Methods can be called concurrently if the units are different."""

    @property
    def images(self) -> ImageStore | None:
        """The provider's images, or None if it doesn't support images."""
        ...

    @property
    def egress(self) -> Egress | None:
        """The proxies for filtered networks, or None if these aren't supported."""
        ...

    async def run(self) -> None:
        """Run background tasks until cancelled. Returns immediately if the provider has none."""
        ...

    async def capabilities(self) -> Capabilities: ...

    async def create(self, unit: str, spec: SandboxSpec, report: Report) -> None:
        """Create a unit's persistent parts, such as directories and volumes, and get its image. Does not start the
        unit.

        The call can be repeated after a failure, so parts that already exist are not an error.

        Args:
            unit: The name of the unit.
            spec: The specification.
            report: Called with the progress.

        Raises:
            HawseError: `invalid_params` if the provider can't meet the specification, for example because the image
                does not exist; otherwise `unavailable`.
        """
        ...

    async def start(self, unit: str, spec: SandboxSpec, runtime: str, report: Report) -> Endpoint:
        """Start a runtime, and return once it accepts links. The caller must ensure that the unit is not running.

        After a failure or cancellation, processes can remain until `stop` is called.

        Args:
            unit: The name of a unit created with `create`.
            spec: The specification. `env` can differ from the value passed to `create`.
            runtime: The runtime id for this start, which is passed to the runtime as `--id`.
            report: Called with the progress.

        Raises:
            HawseError: `unavailable` if the runtime can't be started.
        """
        ...

    async def stop(self, unit: str, runtime: str | None = None) -> None:
        """End all of the unit's processes. Returns once they are confirmed to have ended.

        It is not an error if the unit is not running or does not exist.

        Args:
            unit: The name of the unit.
            runtime: Only end processes with this runtime id. None ends all processes.

        Raises:
            HawseError: `unavailable` if a process may still be running.
        """
        ...

    async def delete(self, unit: str) -> None:
        """Stop the unit and remove its files. Has no effect if it does not exist. Raises the same errors as `stop`."""
        ...

    async def pause(self, unit: str) -> None:
        """Suspend all processes in a running unit. Called only if `pause` is supported. Raises the same errors as
        `stop`."""
        ...

    async def resume(self, unit: str) -> None:
        """Resume a paused unit. Raises `HawseError` (`unavailable`)."""
        ...

    async def observe(self, unit: str, runtime: str | None = None) -> Observation:
        """Return a unit's state.

        Args:
            unit: The name of the unit.
            runtime: The runtime id that the caller expects. If the provider has a cached state with a different id, it
                refreshes the state.

        Raises:
            HawseError: `unavailable` if the state is unknown.
        """
        ...

    async def discover(self) -> list[Observation]:
        """Return all of this provider's units, including those from earlier gateways and versions.

        Raises:
            HawseError: `unavailable` if the list is incomplete, for example because a daemon does not respond.
        """
        ...

    async def mount_place(self, unit: str) -> MountPlace:
        """Return the information needed to mount file systems in a running unit.

        Raises:
            HawseError: `unavailable` if the unit is not running or the provider doesn't support mounts.
        """
        ...

    async def close(self) -> None:
        """Release the resources held by this process. Units keep running."""
        ...
