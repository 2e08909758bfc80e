"""The interface of a sandbox provider: how sandboxes are created, started, observed, and verified to have ended.

All methods are coroutines, so that a provider may ask a Docker daemon or the API of a cluster. A provider decides
nothing: `hawse_gateway.sandboxes` decides when a sandbox is started or stopped, writes that to the store first, and
never calls two changing methods for one unit at the same time (docs/decisions/0075).

A *unit* is what the provider makes of a sandbox: a directory and a process, or a volume and a container. Its name is
1 to 64 letters, digits, `_`, `.` or `-`, of which the first is a letter or a digit. A *runtime id* names one start of
a unit. The provider attaches it to everything that it starts, so that it can tell later what belongs to which start.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol

import msgspec

from hawse.api.egress import EgressLost, EgressPolicy, EgressRequest
from hawse.api.sandboxes import Enforcement, ImageInfo, Isolation, Network, SandboxLimits
from hawse_gateway.egress.control import Status
from hawse_gateway.egress.follower import EgressFollower

MACHINE: Final = "machine:"  # begins the text of a `MachineAddress`


class TcpAddress(NamedTuple):
    """The address of a runtime that listens on TCP."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class MachineAddress(NamedTuple):
    """The address of a runtime whose machine has connected to this gateway: the name of its unit."""

    unit: str

    def __str__(self) -> str:
        return f"{MACHINE}{self.unit}"


@dataclass(frozen=True)
class Endpoint:
    """Where the runtime of a sandbox accepts links.

    Attributes:
        address: The path of a Unix socket, a TCP address, or a machine that is connected.
        token: What the gateway sends in `hello`. None if access to the address is protection enough.
        uid: The user whose process must listen on the Unix socket. None: any.
        certificate: The certificate, in PEM, that the server at the TCP address must prove to own. None: without TLS.
        runtime: The id of a runtime that chose it itself. None: the one that `start` was given.
    """

    address: Path | TcpAddress | MachineAddress
    token: str | None = field(default=None, repr=False)
    uid: int | None = None
    certificate: str | None = field(default=None, repr=False)
    runtime: str | None = None


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a provider can do on this machine.

    Attributes:
        provider: Its name in `--provider` and in `sandbox.create`.
        isolation: What new sandboxes run in.
        isolation_reason: Why the isolation is not stronger. None if it is the strongest of this provider.
        images: Whether `SandboxSpec.image` is supported.
        networks: The supported values of `SandboxSpec.network`; the first is the default.
        installable: How to install what the gateway lacks for other networks, by their names.
        refused: Why other networks are not supported, by their names.
        limits: The names of the fields of `SandboxLimits` that are enforced.
        enforcement: What is enforced for a sandbox that asks for nothing.
        pause: Whether `pause` and `resume` are supported.
        start_timeout: Seconds that a start may take.
        remote: Whether sandboxes use the memory and the disk of other machines.
        joined: Whether its sandboxes are machines that connect by themselves: a new one waits for its machine.
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
        """Return what is enforced for a sandbox."""
        limits = {name: getattr(spec.limits, name) or getattr(self.enforcement.limits, name) for name in self.limits}
        network = spec.network or self.enforcement.network
        return msgspec.structs.replace(self.enforcement, network=network, limits=SandboxLimits(**limits))


class SandboxSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a sandbox is to be. It is stored before the unit is created, so every field must be encodable as JSON.

    Attributes:
        image: The image whose files the sandbox sees. None: the provider's default.
        image_command: Whether the command of the image is started in it.
        env: The environment of all programs in the sandbox.
        network: What the sandbox can connect to. None: the provider's default.
        limits: What the sandbox may use.
        egress: What a filtered network lets through. None: nothing.
    """

    image: str | None = None
    image_command: bool = False
    env: dict[str, str] = {}
    network: Network | None = None
    limits: SandboxLimits = msgspec.field(default_factory=SandboxLimits)
    egress: EgressPolicy | None = None


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What a provider sees of one unit.

    Attributes:
        unit: Its name.
        state: `absent`: nothing of it exists. `stopped`: its files exist, and nothing of it runs. `running`: its
            runtime accepts links. `paused`: its processes are suspended by `pause`. `frozen`: its runtime exists but
            does not proceed, for example after SIGSTOP. `unreachable`: something of it runs, but no runtime accepts
            links: it is starting, ending, or has lost its socket.
        runtime: The id of the start that what runs belongs to. None if nothing runs, or if it is not known.
        endpoint: Where its runtime accepts links. None unless it is `running` or `frozen`.
        isolation: What it runs in. None if that is not known.
        keeps: Whether it has files that outlive what runs.
        reason: Why it is in this state, for a person. None if there is nothing to explain.
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
    """Where file systems can be mounted in a unit that runs.

    Attributes:
        pid: A process of this machine, in the mount namespace of the programs.
        user: The user and group of the programs, as their user namespace counts them.
        workspace: The directory of the user's files, as they see it.
    """

    pid: int
    user: int
    workspace: str


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a start is.

    Attributes:
        phase: What is being done, in one word: `creating`, `pulling`, `starting`, `connecting`.
        message: Details for a person, such as the layer that is downloaded.
        done: The part that is done, 0 to 1. None if it is not known.
    """

    phase: str
    message: str | None = None
    done: float | None = None


Report = Callable[[Progress], None]


class ProviderError(Exception):
    """The provider cannot be used with these settings. The message contains what to change."""


class ImageStore(Protocol):
    """The images of a provider. All methods raise `HawseError` (`unavailable`) if the provider cannot be asked."""

    async def list(self) -> list[ImageInfo]:
        """Return all images that are there."""
        ...

    async def pull(self, image: str, report: Report) -> ImageInfo:
        """Pull an image, also a newer version of one that is there, and return it.

        Args:
            image: Its name, with a tag or digest; without one, the tag is `latest`.
            report: Is called with the progress.

        Raises:
            HawseError: `invalid_params` if it does not exist, or may not be pulled.
        """
        ...

    async def remove(self, image: str) -> None:
        """Remove a name of an image. Raises `HawseError` (`not_found`; `conflict` if a sandbox uses it)."""
        ...


class Egress(Protocol):
    """The proxies of filtered networks of a provider."""

    @property
    def follower(self) -> EgressFollower:
        """What follows them, as a part of the provider's `run`."""
        ...

    def want(self, policies: Mapping[str, EgressPolicy]) -> None:
        """Note what the proxies of running units have to let through, by unit. They get it soon."""
        ...

    async def apply(self, unit: str, policy: EgressPolicy) -> None:
        """Let the proxy of a unit decide by a policy from now on, if it has one. Raises `HawseError` `unavailable`."""
        ...

    async def status(self, unit: str) -> Status | None:
        """Return what the proxy of a unit has done. None: it has none."""
        ...

    def watch(self, unit: str, *, allowed: bool) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
        """Yield what the proxy of a unit decides, until it ends; at once if there is none.

        Args:
            unit: The unit.
            allowed: Whether requests that are passed on are reported, too.
        """
        ...


class Provider(Protocol):
    """Creates, finds and removes units. Methods may be called concurrently for different units."""

    @property
    def images(self) -> ImageStore | None:
        """The images of sandboxes. None: it has none."""
        ...

    @property
    def egress(self) -> Egress | None:
        """The proxies of filtered networks. None: it has none."""
        ...

    async def run(self) -> None:
        """Follow what changes, until it is cancelled. A provider that only answers returns at once."""
        ...

    async def capabilities(self) -> Capabilities: ...

    async def create(self, unit: str, spec: SandboxSpec, report: Report) -> None:
        """Make what survives a stop: directories, volumes, the image. Nothing is started.

        It is repeated after a failure, so what exists already is not an error.

        Args:
            unit: The name of the unit.
            spec: What it is to be.
            report: Is called with the progress.

        Raises:
            HawseError: `invalid_params` if the spec cannot be fulfilled, such as an image that does not exist,
                otherwise `unavailable`.
        """
        ...

    async def start(self, unit: str, spec: SandboxSpec, runtime: str, report: Report) -> Endpoint:
        """Start a runtime and return when it accepts links. Nothing of the unit runs when this is called.

        What was started before a failure or a cancellation may be left to `stop`.

        Args:
            unit: The name of a unit that `create` has made.
            spec: What it is to be; `env` may differ from that of `create`.
            runtime: The runtime id of this start. The runtime is started with it as `--id`.
            report: Is called with the progress.

        Raises:
            HawseError: `unavailable` if the runtime cannot be started.
        """
        ...

    async def stop(self, unit: str, runtime: str | None = None) -> None:
        """End everything that runs in the unit. Return when it is verified that all of it has ended.

        A unit that does not run or does not exist is not an error.

        Args:
            unit: The name of the unit.
            runtime: End only what belongs to the start with this runtime id. None: whatever runs.

        Raises:
            HawseError: `unavailable` if something of it still runs.
        """
        ...

    async def delete(self, unit: str) -> None:
        """Stop the unit and remove its files. One that does not exist is not an error. Raises as `stop` does."""
        ...

    async def pause(self, unit: str) -> None:
        """Suspend all processes of a running unit. Called only if the provider is capable of it. Raises as `stop`."""
        ...

    async def resume(self, unit: str) -> None:
        """Let a paused unit go on. Raises `HawseError` (`unavailable`)."""
        ...

    async def observe(self, unit: str, runtime: str | None = None) -> Observation:
        """Return the state of one unit, without starting it.

        Args:
            unit: The name of the unit.
            runtime: The start that is expected to run. A provider that remembers another one looks again.

        Raises:
            HawseError: `unavailable` if the state is not known.
        """
        ...

    async def discover(self) -> list[Observation]:
        """Return all units of this provider, also those that an earlier gateway or version made.

        Raises:
            HawseError: `unavailable` if the list is not complete, for example because a daemon does not answer.
        """
        ...

    async def mount_place(self, unit: str) -> MountPlace:
        """Return where file systems can be mounted in a unit that runs.

        Raises:
            HawseError: `unavailable` if it does not run, or if nothing can be mounted in units of this provider.
        """
        ...

    async def close(self) -> None:
        """Release what the provider holds in this process. Units go on running."""
        ...
