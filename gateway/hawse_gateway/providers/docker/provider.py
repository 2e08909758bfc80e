"""The Docker provider: a sandbox is a container with one volume for its files and one for its runtime.

A container only exists while its sandbox is running: `start` creates the container, and `stop` removes it. Labels
identify the objects that belong to this state directory.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aiodocker.containers import DockerContainer

from hawse.api.egress import EgressPolicy
from hawse.api.sandboxes import Enforcement, Network, SandboxLimits
from hawse.link.sockets import accepts_connections
from hawse.wire import HawseError
from hawse_gateway.core.removal import remove_tree
from hawse_gateway.egress.follower import OnRefusal
from hawse_gateway.egress.plan import trusted_certificates
from hawse_gateway.egress.settings import EgressSettings
from hawse_gateway.providers.base import Capabilities, Endpoint, MountPlace, Observation, Progress, Report, SandboxSpec
from hawse_gateway.providers.docker import container
from hawse_gateway.providers.docker.container import GATEWAY_LABEL, RUNTIME_LABEL, UNIT_LABEL, UnitPlace
from hawse_gateway.providers.docker.engine import Engine
from hawse_gateway.providers.docker.images import Images
from hawse_gateway.providers.egress import INSTALL, EgressProcesses, is_available
from hawse_gateway.providers.isolation import cgroups
from hawse_gateway.providers.state_directory import SandboxPaths, StateDirectory, StateError

log = logging.getLogger(__name__)

START_TIMEOUT: Final = 30.0  # seconds to wait until a runtime accepts connections
PREPARATION: Final = 30.0  # time limit for the steps before the runtime runs, in seconds
# Connection attempts are repeated with growing pauses, because creating a mounted socket triggers no event.
POLL_MIN: Final = 0.01
POLL_MAX: Final = 0.1
STOP_GRACE: Final = 10  # seconds between SIGTERM and SIGKILL
# Seconds before each retry to remove a container. While the engine is completing a cancelled start, it refuses to
# remove the container, and it sends no event afterwards. A total of 19 s is enough on a busy machine.
REMOVAL_PAUSES: Final = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 3.2, 3.2, 3.2, 3.2)
LOG_LINES: Final = 20  # number of lines copied from a failed runtime's log to the gateway's log
DEFAULT_IMAGE: Final = "debian:bookworm-slim"
GATEWAY_ID: Final = "docker-gateway"  # the file in the state directory with the id used in labels
# The engine's capability that is required to enforce each field of SandboxLimits.
ENFORCED: Final = {"memory": "MemoryLimit", "cpus": "CpuCfsQuota", "processes": "PidsLimit"}


class DockerProvider:
    """The units that belong to a state directory."""

    def __init__(
        self,
        state: StateDirectory,
        bundle: Path,
        *,
        engine: str | None = None,
        network: Network = "private",
        image: str | None = None,
        oci_runtime: str | None = None,
        arguments: Sequence[str] = (),
        grace: int = STOP_GRACE,
        egress: EgressSettings | None = None,
        start_timeout: float | None = None,
        on_refusal: OnRefusal | None = None,
    ) -> None:
        """Create the provider without contacting the engine.

        Args:
            state: The state directory. It must have the same path on the engine's machine.
            bundle: The directory with the runtime. It must have the same path on the engine's machine.
            engine: The engine's address, such as `unix:///run/docker.sock`. Defaults to the address that the docker
                command uses.
            network: The default network for sandboxes.
            image: The default image for sandboxes. None means DEFAULT_IMAGE.
            oci_runtime: The engine's name for the OCI runtime, such as `runsc`. None means its default.
            arguments: Additional arguments for all runtimes.
            grace: Seconds between SIGTERM and SIGKILL.
            egress: The operator's settings for filtered networks. None means no secrets and only public addresses.
            start_timeout: Seconds to wait for a runtime to accept connections. None means START_TIMEOUT.
            on_refusal: Called with the unit and the refusal whenever a proxy refuses a request. None ignores refusals.
        """
        self._state = state
        self._engine = Engine(engine)
        self.images = Images(self._engine)
        self._network: Network = network
        self._image = image or DEFAULT_IMAGE
        self._oci = oci_runtime
        self._arguments = list(arguments)
        self._grace = grace
        self._start_timeout = start_timeout or START_TIMEOUT
        self._gateway = state.identity(GATEWAY_ID)
        self._user = os.getuid() or container.RUNTIME_USER
        self._bundle = bundle
        self.egress = EgressProcesses(
            egress or EgressSettings(), state, cgroups.find(), user=self._user, on_refusal=on_refusal
        )

    async def run(self) -> None:
        """Follow the proxies for filtered networks, and restart proxies that have exited."""
        if is_available():
            await self.egress.run()

    async def capabilities(self) -> Capabilities:
        information = await self._engine.information()
        others: list[Network] = ["private", "host"]
        others.remove(self._network)
        installable: dict[Network, str] = {}
        refused: dict[Network, str] = {}
        if (reason := self._unfiltered(information)) is not None:
            refused["filtered"] = reason
        elif is_available():
            others.append("filtered")
        else:
            installable["filtered"] = INSTALL
        limits = tuple(name for name, field in ENFORCED.items() if information.get(field))
        defaults = {"memory": container.MEMORY, "processes": container.PROCESSES}
        return Capabilities(
            provider="docker",
            isolation="docker",
            images=True,
            networks=(self._network, *others),
            installable=installable,
            refused=refused,
            limits=limits,
            start_timeout=PREPARATION + self._start_timeout,
            enforcement=Enforcement(
                network=self._network,
                separated=True,
                system_calls=any("name=seccomp" in option for option in information.get("SecurityOptions") or ()),
                memory_files=True,
                limits=SandboxLimits(**{name: value for name, value in defaults.items() if name in limits}),
            ),
            pause=True,
        )

    async def create(self, unit: str, spec: SandboxSpec, report: Report) -> None:
        paths = self._paths(unit)
        if spec.limits.disk is not None:
            message = "the Docker provider cannot limit the disk of a sandbox"
            raise HawseError("invalid_params", message, details={"path": "$.limits.disk"})
        await self.images.ensure(spec.image or self._image, report)
        report(Progress(phase="creating"))
        place = self._place(unit)
        try:
            await asyncio.to_thread(self._make, paths)
        except (OSError, StateError) as error:
            raise HawseError("unavailable", f"cannot create the sandbox: {error}") from error
        for name in (place.private, place.workspace):
            await self._engine.create_volume(place.volume(name))

    async def start(self, unit: str, spec: SandboxSpec, runtime: str, report: Report) -> Endpoint:
        place = self._place(unit)
        report(Progress(phase="starting"))
        token = secrets.token_hex(16)
        image = spec.image or self._image
        command = container.image_command(await self.images.inspect(image), spec) if spec.image_command else []
        network = spec.network or self._network
        certificates = await self._start_proxy(unit, spec) if network == "filtered" else None
        start = container.ContainerStart(
            image=image,
            network=network,
            runtime=runtime,
            token=token,
            arguments=[*self._arguments, *command],
            certificates=certificates,
            oci_runtime=self._oci,
        )
        async with self._engine.client() as client:
            config = container.config(place, spec, start)
            created = await client.containers.create(config, name=f"hawse-{self._gateway}-{unit}-{runtime}")
            await created.start()
        log.info("= unit %s started, container %s", unit, created.id[:12], extra={"sandbox": unit})
        socket = place.sockets / container.SOCKET_NAME
        try:
            async with asyncio.timeout(self._start_timeout):
                await self._wait_until_it_accepts(created, socket)
        except TimeoutError:
            reason = f"the runtime did not accept connections within {self._start_timeout:g} s"
        except _EndedError as error:
            reason = f"the runtime ended with exit code {error}: see the gateway's log"
        else:
            # Programs can't replace this socket, because its directory belongs to the runtime's user.
            return Endpoint(socket, token)
        async with self._engine.client():
            lines = await created.log(stdout=True, stderr=True, tail=LOG_LINES)
        # The log can contain program output, so it is only shown to the operator, not to the caller.
        log.error("! the runtime of unit %s: %s", unit, "".join(lines).strip(), extra={"sandbox": unit})
        raise HawseError("unavailable", reason)

    async def stop(self, unit: str, runtime: str | None = None) -> None:
        labels = self._labels(unit) if runtime is None else {**self._labels(unit), RUNTIME_LABEL: runtime}
        for pause in REMOVAL_PAUSES:
            left = await self._engine.containers(labels)
            if not left:
                if runtime is None or not await self._engine.containers(self._labels(unit)):
                    await self.egress.end(self._paths(unit))
                log.info("= unit %s stopped", unit, extra={"sandbox": unit})
                return
            removed = [await self._engine.remove_container(found, self._grace) for found in left]
            if not all(removed):
                await asyncio.sleep(pause)
        raise HawseError("unavailable", f"container {left[0].id[:12]} has not been removed")

    async def delete(self, unit: str) -> None:
        await self.stop(unit)
        for volume in await self._engine.volumes(self._labels(unit)):
            await self._engine.remove_volume(volume["Name"])
        if left := await self._engine.volumes(self._labels(unit)):
            raise HawseError("unavailable", f"volume {left[0]['Name']} is not removed yet")
        try:
            await asyncio.to_thread(remove_tree, self._paths(unit).home)
        except OSError as error:
            raise HawseError("unavailable", f"cannot remove the sandbox's files: {error.strerror}") from error

    async def pause(self, unit: str) -> None:
        for found in await self._engine.containers(self._labels(unit)):
            async with self._engine.client():
                await found.pause()

    async def resume(self, unit: str) -> None:
        for found in await self._engine.containers(self._labels(unit)):
            async with self._engine.client():
                await found.unpause()

    async def observe(self, unit: str, runtime: str | None = None) -> Observation:
        containers = await self._engine.containers(self._labels(unit))
        # Volumes are only looked up if there is no container, because calls to the sandbox may be waiting for this
        # result.
        exists = bool(containers or await self._engine.volumes(self._labels(unit)))
        return self._observation(unit, containers, exists=exists)

    async def discover(self) -> list[Observation]:
        ours = {GATEWAY_LABEL: self._gateway}
        containers = await self._engine.containers(ours)
        existing = {volume["Labels"][UNIT_LABEL] for volume in await self._engine.volumes(ours)}
        units: dict[str, list[DockerContainer]] = {unit: [] for unit in existing}
        for found in containers:
            units.setdefault(found["Labels"][UNIT_LABEL], []).append(found)
        seen = [self._observation(unit, found, exists=unit in existing) for unit, found in sorted(units.items())]
        self.egress.note_running([self._paths(each.unit) for each in seen if each.state == "running"])
        return seen

    async def mount_place(self, unit: str) -> MountPlace:
        if os.getuid() != 0:
            raise HawseError("unavailable", "mounts in containers need a gateway that runs as root", retryable=False)
        if container.GVISOR in (self._oci or ""):
            raise HawseError(
                "unavailable", "gVisor does not support mounts, because it has its own kernel", retryable=False
            )
        for found in await self._engine.containers(self._labels(unit)):
            async with self._engine.client():
                pid = (await found.show())["State"].get("Pid", 0)
            if pid and await asyncio.to_thread(_is_in, found.id, pid):
                return MountPlace(pid=pid, user=container.PROGRAMS_USER, workspace=container.WORKSPACE)
        raise HawseError("unavailable", "no container of the sandbox runs on the gateway's machine")

    async def close(self) -> None:
        await self._engine.close()

    # ---- state

    def _labels(self, unit: str) -> dict[str, str]:
        return {GATEWAY_LABEL: self._gateway, UNIT_LABEL: unit}

    def _paths(self, unit: str) -> SandboxPaths:
        """Return a unit's paths. Raises `HawseError` (`invalid_params`)."""
        try:
            return self._state.sandbox(unit)
        except ValueError as error:
            raise HawseError("invalid_params", str(error), details={"path": "$.id"}) from None

    def _place(self, unit: str) -> UnitPlace:
        return UnitPlace(
            gateway=self._gateway, unit=unit, bundle=self._bundle, sockets=self._paths(unit).run, user=self._user
        )

    def _make(self, paths: SandboxPaths) -> None:
        """Create the socket's directory, accessible only to the runtime's user and root."""
        paths.run.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.getuid() != self._user:
            os.chown(paths.run, self._user, self._user)

    def _unfiltered(self, information: Mapping[str, Any]) -> str | None:
        """Return the reason why networks can't be filtered, or None if they can."""
        if container.GVISOR in (self._oci or information.get("DefaultRuntime") or ""):
            return "gVisor has its own network stack and cannot hand over sockets"
        if information.get("KernelVersion") != os.uname().release:
            return "the Docker Engine and the gateway are on different machines"
        return None

    async def _start_proxy(self, unit: str, spec: SandboxSpec) -> Path:
        """Start the proxy for a filtered network. Return the file with the certificates that programs should trust."""
        paths = self._paths(unit)
        if (reason := self._unfiltered(await self._engine.information())) is not None:
            raise HawseError("unavailable", f"the network cannot be filtered: {reason}", retryable=False)
        await self.egress.start(paths, spec.egress or EgressPolicy())
        try:
            return await asyncio.to_thread(_write_certificates, paths, self.egress.authority(paths))
        except OSError as error:
            raise HawseError("unavailable", f"cannot write the certificates: {error.strerror}") from error

    def _observation(self, unit: str, containers: list[DockerContainer], *, exists: bool) -> Observation:
        running = [found for found in containers if found["State"] not in ("exited", "dead", "created")]
        if not running:
            return Observation(unit=unit, state="stopped" if exists or containers else "absent")
        found = running[0]
        runtime, socket = found["Labels"].get(RUNTIME_LABEL), self._paths(unit).run / container.SOCKET_NAME
        if found["State"] == "paused":
            return Observation(unit=unit, state="paused", runtime=runtime, isolation="docker")
        if found["State"] != "running" or not accepts_connections(socket):
            reason = f"the runtime in container {found.id[:12]} ({found['State']}) does not accept connections"
            return Observation(unit=unit, state="unreachable", runtime=runtime, isolation="docker", reason=reason)
        return Observation(unit=unit, state="running", runtime=runtime, endpoint=Endpoint(socket), isolation="docker")

    async def _wait_until_it_accepts(self, created: DockerContainer, socket: Path) -> None:
        """Wait until the socket accepts connections. Raises `_EndedError` with the exit code if the container ends."""
        delay = POLL_MIN
        while not accepts_connections(socket):
            async with self._engine.client():
                state = (await created.show())["State"]
            if state["Status"] in ("exited", "dead"):
                raise _EndedError(state["ExitCode"])
            await asyncio.sleep(delay)
            delay = min(2 * delay, POLL_MAX)


def _write_certificates(paths: SandboxPaths, authority: str) -> Path:
    """Write the trusted certificates, readable by all users in the container. Raises `OSError`."""
    file = paths.egress / "trusted.pem"
    with file.open("wb") as output:
        os.fchmod(output.fileno(), 0o644)  # sets the mode regardless of the umask
        output.write(trusted_certificates(authority))
    return file


def _is_in(id: str, pid: int) -> bool:
    """Return whether a pid belongs to a process in a container. The pid itself may be from another machine or
    namespace.

    A process in a container has mounts from the container's directory, such as /etc/hostname (proc_pid_mountinfo(5)).
    """
    try:
        return id in Path(f"/proc/{pid}/mountinfo").read_text(errors="replace")
    except OSError:
        return False


class _EndedError(Exception):
    """A container ended before its runtime accepted connections."""
