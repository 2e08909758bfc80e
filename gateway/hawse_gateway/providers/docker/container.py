"""The settings of the containers in which sandboxes run: hardened by default, and the same for every image."""

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

BUNDLE: Final = "/hawse/bundle"  # paths in the container
SOCKETS: Final = "/hawse/socket"
PRIVATE: Final = "/hawse/private"
WORKSPACE: Final = "/workspace"
SOCKET_NAME: Final = "runtime.sock"

RUNTIME_USER: Final = 990  # of the runtime if the gateway is the superuser; images use low numbers, and those from 1000
PROGRAMS_USER: Final = 1000  # of the programs: the usual user of images
GVISOR: Final = (
    "runsc"  # in the name of the OCI runtime; it reports every peer of a host's socket as the program itself
)
IMAGE_PROCESS: Final = "image"  # the id of the process that runs the command of the image
PROCESSES: Final = 512  # processes and threads, if the sandbox does not say so
MEMORY: Final = 2 << 30  # bytes
TMP_SIZE: Final = "512m"  # it is counted as memory of the container as well
RUN_SIZE: Final = "16m"
# For the init, and for the runtime until it is ready; programs have none.
CAPABILITIES: Final = ("CHOWN", "SETGID", "SETUID")
LOG: Final = {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "2"}}  # of the runtime
# The engine's `none` is a network namespace with a loopback interface only. That is what `private` means; `none` would
# be one without any interface, which the engine does not have. `filtered` has a proxy on that interface.
NETWORKS: Final[Mapping[Network, str]] = {"private": "none", "filtered": "none", "host": "host"}
# Where programs of a filtered network find the certificates that they trust: the variables name the first, and what
# reads no variable has one of the others, by its distribution. The engine makes those that an image does not have.
TRUSTED: Final = (
    CERTIFICATES,
    SYSTEM_CERTIFICATES,  # Debian, Alpine, Arch
    "/etc/ssl/cert.pem",  # Alpine, OpenSSL of Debian
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora and its relatives
    "/etc/ssl/ca-bundle.pem",  # openSUSE
)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a unit is.

    Attributes:
        gateway: The id of the state directory, in labels and names.
        unit: The name of the unit.
        bundle: The directory of the bundle, as the engine sees it.
        sockets: The directory of the unit's socket, as the engine sees it.
        user: The user of the runtime: the owner of `sockets`.
    """

    gateway: str
    unit: str
    bundle: Path
    sockets: Path
    user: int

    @property
    def workspace(self) -> str:
        """The name of the volume with the files of the sandbox."""
        return f"hawse-{self.gateway}-{self.unit}-workspace"

    @property
    def private(self) -> str:
        """The name of the volume with the runtime's own files."""
        return f"hawse-{self.gateway}-{self.unit}-private"

    @property
    def labels(self) -> dict[str, str]:
        return {GATEWAY_LABEL: self.gateway, UNIT_LABEL: self.unit}

    def volume(self, name: str) -> dict[str, Any]:
        """Return the settings of one of the unit's volumes."""
        return {"Name": name, "Labels": self.labels}


@dataclass(frozen=True, kw_only=True)
class Start:
    """One start of a unit.

    Attributes:
        image: The image.
        network: What programs can connect to.
        runtime: The runtime id.
        token: What the runtime expects in `hello`.
        arguments: More arguments of the runtime.
        certificates: The file with the certificates that programs of a filtered network trust, as the engine sees it.
        oci_runtime: The engine's name of the program that runs containers, such as `runsc`. None: its default.
    """

    image: str
    network: Network
    runtime: str
    token: str = field(repr=False)
    arguments: Sequence[str] = ()
    certificates: Path | None = None
    oci_runtime: str | None = None


def config(place: Place, spec: SandboxSpec, start: Start) -> dict[str, Any]:
    """Return the settings of a container, as the engine's API takes them.

    Args:
        place: The unit.
        spec: What it is to be.
        start: How it is started.
    """
    programs = PROGRAMS_USER if place.user != PROGRAMS_USER else PROGRAMS_USER + 1
    # The variables of the sandbox are not among them: the runtime gets them, and their changes, from the gateway.
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
        "User": "0:0",  # the runtime changes it, see runtime/hawse_runtime/posix/two_users.py
        "WorkingDir": "/",
        "Hostname": "hawse",
        "Healthcheck": {"Test": ["NONE"]},  # that of the image is about its own program
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
    """Return the arguments with which the runtime starts the command of the image, as the process `image`.

    Args:
        image: What the engine knows of the image.
        spec: What the sandbox is to be; the command gets its variables.

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
        "MemorySwap": memory,  # the sum: no swap
        "PidsLimit": PROCESSES if limits.processes is None else limits.processes,
    }
    if limits.cpus is not None:
        settings["NanoCpus"] = int(limits.cpus * 1e9)
    return settings
