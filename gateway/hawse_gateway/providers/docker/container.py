"""Builds container settings. Containers are hardened by default, regardless of their image."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from hawse.api.processes import ProcessStart
from hawse.api.sandboxes import Network, SandboxLimits
from hawse.wire import HawseError
from hawse_gateway.egress.plan import CERTIFICATES, PORT, SYSTEM_CERTIFICATES, proxy_variables
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.providers.bundle import build as bundle

GATEWAY_LABEL: Final = "hawse.gateway"
UNIT_LABEL: Final = "hawse.sandbox"
RUNTIME_LABEL: Final = "hawse.runtime"

BUNDLE: Final = "/hawse/bundle"  # paths inside the container

SOCKETS: Final = "/hawse/socket"
PRIVATE: Final = "/hawse/private"
WORKSPACE: Final = "/workspace"
SOCKET_NAME: Final = "runtime.sock"

RUNTIME_USER: Final = 990  # user id of the runtime if the gateway runs as root; images rarely use this id
PROGRAMS_USER: Final = 1000  # user id of programs in the sandbox; the usual id of a user in images
GVISOR: Final = "runsc"  # part of gVisor's name as an OCI runtime; it reports wrong peer credentials for host sockets
IMAGE_PROCESS: Final = "image"  # the id of the process that runs the image's command
PROCESSES: Final = 512  # default limit for processes and threads
MEMORY: Final = 2 << 30  # bytes
TMP_SIZE: Final = "512m"  # size of /tmp, which counts toward the container's memory
RUN_SIZE: Final = "16m"
# Capabilities of the container's init process, and of the runtime until it is ready. Programs get none.
CAPABILITIES: Final = ("CHOWN", "SETGID", "SETUID")
LOG: Final = {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "2"}}  # settings for the runtime's log
# The engine's `none` network only has a loopback interface, like hawse's `private`. The engine does not support hawse's
# `none`, which has no interface at all. `filtered` has a proxy on the loopback interface.
NETWORKS: Final[Mapping[Network, str]] = {"private": "none", "filtered": "none", "host": "host"}
# Paths to the trusted certificates in a filtered network. Environment variables point to the first path. Programs that
# ignore these variables use one of the other paths, depending on the distribution. The engine creates paths that don't
# exist in the image.
TRUSTED: Final = (
    CERTIFICATES,
    SYSTEM_CERTIFICATES,  # used by Debian, Alpine and Arch
    "/etc/ssl/cert.pem",  # used by Alpine, and by OpenSSL in Debian
    "/etc/pki/tls/certs/ca-bundle.crt",  # used by Fedora and its derivatives
    "/etc/ssl/ca-bundle.pem",  # openSUSE
)


@dataclass(frozen=True, kw_only=True)
class UnitPlace:
    """A unit's names and paths.

    Attributes:
        gateway: The id of the state directory, used in labels and names.
        unit: The name of the unit.
        bundle: The bundle directory, as seen by the engine.
        sockets: The directory for the unit's socket, as seen by the engine.
        user: The runtime's user, which owns `sockets`.
    """

    gateway: str
    unit: str
    bundle: Path
    sockets: Path
    user: int

    @property
    def workspace(self) -> str:
        """The name of the volume for the sandbox's files."""
        return f"hawse-{self.gateway}-{self.unit}-workspace"

    @property
    def private(self) -> str:
        """The name of the volume for the runtime's own files."""
        return f"hawse-{self.gateway}-{self.unit}-private"

    @property
    def labels(self) -> dict[str, str]:
        return {GATEWAY_LABEL: self.gateway, UNIT_LABEL: self.unit}

    def volume(self, name: str) -> dict[str, Any]:
        """Return the settings for one of the unit's volumes."""
        return {"Name": name, "Labels": self.labels}


@dataclass(frozen=True, kw_only=True)
class ContainerStart:
    """One start of a unit.

    Attributes:
        image: The image.
        network: The network for programs.
        runtime: The runtime id.
        token: The token that the runtime expects in `hello`.
        arguments: Additional arguments for the runtime.
        certificates: The file with the certificates trusted in a filtered network, as seen by the engine.
        oci_runtime: The engine's name for the OCI runtime, such as `runsc`. None means its default.
    """

    image: str
    network: Network
    runtime: str
    token: str = field(repr=False)
    arguments: Sequence[str] = ()
    certificates: Path | None = None
    oci_runtime: str | None = None


def config(place: UnitPlace, spec: SandboxSpec, start: ContainerStart) -> dict[str, Any]:
    """Return the container settings for the engine's API.

    Args:
        place: The unit's names and paths.
        spec: The specification.
        start: The start.
    """
    programs = PROGRAMS_USER if place.user != PROGRAMS_USER else PROGRAMS_USER + 1
    # The sandbox's variables aren't included here, because the gateway sends the variables and later changes to the
    # runtime.
    environment = {"HOME": WORKSPACE, "USER": "user", "HAWSE_RUNTIME_TOKEN": start.token}
    where = ["--socket", f"{SOCKETS}/{SOCKET_NAME}", "--private", PRIVATE, "--workspace", WORKSPACE]
    wrapper = json.dumps([*bundle.linked(BUNDLE), f"{BUNDLE}/bin/setpriv"])
    python = json.dumps(bundle.command(BUNDLE))
    who = ["--users", f"{place.user}:{programs}", "--wrapper", wrapper, "--python", python]
    if start.oci_runtime is not None and GVISOR in start.oci_runtime:
        who.append("--unknown-peers")
    trusted: list[dict[str, Any]] = []
    if start.certificates is not None:
        who += ["--egress", str(PORT)]
        environment |= proxy_variables()
        trusted = [_bound(start.certificates, path, read_only=True) for path in TRUSTED]
    return {
        "Image": start.image,
        "Labels": {**place.labels, RUNTIME_LABEL: start.runtime},
        "Env": [f"{name}={value}" for name, value in environment.items()],
        "Entrypoint": bundle.command(BUNDLE),
        "Cmd": ["hawse_runtime", *where, *who, "--sandbox", place.unit, "--id", start.runtime, *start.arguments],
        "User": "0:0",  # lets the runtime switch users (runtime/hawse_runtime/posix/user_separation.py)
        "WorkingDir": "/",
        "Hostname": "hawse",
        "Healthcheck": {"Test": ["NONE"]},  # the image's health check is intended for the image's own program
        "StopSignal": "SIGTERM",
        "HostConfig": {
            "CapDrop": ["ALL"],
            "CapAdd": list(CAPABILITIES),
            "SecurityOpt": ["no-new-privileges"],
            "ReadonlyRootfs": True,
            "Tmpfs": {
                "/tmp": f"rw,nosuid,nodev,exec,mode=1777,size={TMP_SIZE}",
                "/run": f"rw,nosuid,nodev,mode=755,size={RUN_SIZE}",
            },
            "Mounts": [
                _bound(place.bundle, BUNDLE, read_only=True),
                _bound(place.sockets, SOCKETS),
                {"Type": "volume", "Source": place.private, "Target": PRIVATE, "VolumeOptions": {"NoCopy": True}},
                {"Type": "volume", "Source": place.workspace, "Target": WORKSPACE},
                *trusted,
            ],
            "Init": True,
            "NetworkMode": NETWORKS[start.network],
            "IpcMode": "private",
            "RestartPolicy": {"Name": "no"},
            "LogConfig": LOG,
            **_limits(spec.limits),
            **({} if start.oci_runtime is None else {"Runtime": start.oci_runtime}),
        },
    }


def _bound(source: Path, target: str, *, read_only: bool = False) -> dict[str, Any]:
    return {"Type": "bind", "Source": str(source), "Target": target, "ReadOnly": read_only}


def image_command(image: Mapping[str, Any], spec: SandboxSpec) -> list[str]:
    """Return the arguments that tell the runtime to start the image's command as a process named `image`.

    Args:
        image: The engine's description of the image.
        spec: The specification, whose variables are passed to the command.

    Raises:
        HawseError: `invalid_params` if the image has no command.
    """
    settings = image.get("Config") or {}
    argv = [*(settings.get("Entrypoint") or []), *(settings.get("Cmd") or [])]
    if not argv:
        message = "the image has no command: neither ENTRYPOINT nor CMD"
        raise HawseError("invalid_params", message, details={"path": "$.image_command"})
    start = ProcessStart(id=IMAGE_PROCESS, argv=argv, cwd=settings.get("WorkingDir") or "/", env=dict(spec.env))
    return ["--command", msgspec.json.encode(start).decode()]


def _limits(limits: SandboxLimits) -> dict[str, Any]:
    memory = MEMORY if limits.memory is None else limits.memory
    settings: dict[str, Any] = {
        "Memory": memory,
        "MemorySwap": memory,  # limit for memory plus swap; equal to the memory limit, so that no swap is used
        "PidsLimit": PROCESSES if limits.processes is None else limits.processes,
    }
    if limits.cpus is not None:
        settings["NanoCpus"] = int(limits.cpus * 1e9)
    return settings
