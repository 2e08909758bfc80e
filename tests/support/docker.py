"""A Docker Engine for tests, if available: builds small images, and lists and removes leftovers of gateways."""

import http.client
import io
import json
import os
import platform
import shutil
import socket
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = os.environ.get("DOCKER_HOST", "unix:///run/docker.sock")
APPLETS = (
    "cat chmod date env false find grep head id kill ln ls mkdir mount mv nproc ps rm sh sha256sum sleep stat sync"
    " tee touch tr true wc wget yes"
).split()
BUSYBOX, MUSL, SCRATCH = "hawse-test-busybox", "hawse-test-musl", "hawse-test-static"
LINKS = "hawse-test-links"  # with trusted certificates behind symbolic links, as in Fedora and openSUSE
COMMAND = "hawse-test-command"  # with its own command, a working directory and a variable
SETTINGS = {COMMAND: ['ENTRYPOINT ["/bin/sh", "-c"]', 'CMD ["pwd; env; exec sleep 1000"]', "WORKDIR /bin", "ENV B=2"]}
LINKED: dict[str, str | bytes] = {
    "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem": b"of the image",
    "etc/pki/tls/certs/ca-bundle.crt": "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "etc/ssl/certs": "../pki/tls/certs",
    "etc/ssl/ca-bundle.pem": "/var/lib/ca-certificates/ca-bundle.pem",  # an image that does not exist
}

Files = Mapping[str, str | bytes | Path]  # the target of a symbolic link, a content, or a file to copy


class _Connection(http.client.HTTPConnection):
    def __init__(self, address: str) -> None:
        super().__init__("engine", timeout=60)
        self._address = address

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._address.removeprefix("unix://"))


def ask(method: str, path: str, body: bytes | None = None, *, address: str = ADDRESS) -> Any:
    """Send a request to an engine and return its JSON. Raises `OSError`, or `AssertionError` if it refuses."""
    connection = _Connection(address)
    try:
        connection.request(method, path, body, {"Content-Type": "application/x-tar"})
        response = connection.getresponse()
        text = response.read().decode()
        assert response.status < 400, text
        return json.loads(text) if response.headers["Content-Type"] == "application/json" and text else None
    finally:
        connection.close()


def answers(address: str = ADDRESS) -> bool:
    try:
        ask("GET", "/_ping", address=address)
    except (OSError, AssertionError):
        return False
    return True


needs_engine = pytest.mark.skipif(not answers(), reason=f"no Docker Engine answers at {ADDRESS} (DOCKER_HOST)")


def make_images(address: str = ADDRESS) -> None:
    """Build the missing images: programs of Debian's busybox-static, with musl, and a single file."""
    existing = {tag for image in ask("GET", "/images/json", address=address) for tag in image["RepoTags"] or []}
    loader = f"lib/ld-musl-{platform.machine()}.so.1"
    images: dict[str, Files] = {
        BUSYBOX: programs(),
        MUSL: {**programs(), loader: Path("/", loader)},
        SCRATCH: {"busybox": programs()["bin/busybox"]},
        COMMAND: programs(),
        LINKS: {**programs(), **LINKED},
    }
    for name, files in images.items():
        if f"{name}:latest" not in existing:
            import_image(name, files, SETTINGS.get(name, []), address=address)


def programs() -> Files:
    """Return busybox's programs, and the files that define users."""
    busybox = shutil.which("busybox")
    assert busybox is not None, "busybox-static is not installed"
    users = b"root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/workspace:/bin/sh\n"
    return {"bin/busybox": Path(busybox), **{f"bin/{name}": "busybox" for name in APPLETS}, "etc/passwd": users}


def import_image(name: str, files: Files, settings: Sequence[str] = (), *, address: str = ADDRESS) -> None:
    """Build an image from files.

    Args:
        name: The name of the image.
        files: The files by path.
        settings: Dockerfile lines with the settings of containers.
        address: The engine.
    """
    changes = "".join(f"&changes={quote(line)}" for line in settings)
    ask("POST", f"/images/create?fromSrc=-&repo={name}&tag=latest{changes}", archive(files), address=address)


def archive(files: Files) -> bytes:
    """Return an archive of programs (paths), files (bytes) and symbolic links (text)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.mode = 0o755
            if isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
                archive.addfile(entry)
            else:
                data = content.read_bytes() if isinstance(content, Path) else content
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def left(gateway: str, address: str = ADDRESS) -> list[str]:
    """Return the names of all containers, volumes and networks with a gateway's label."""
    filters = quote(json.dumps({"label": [f"hawse.gateway={gateway}"]}))
    containers = ask("GET", f"/containers/json?all=1&filters={filters}", address=address)
    volumes = ask("GET", f"/volumes?filters={filters}", address=address)["Volumes"] or []
    networks = ask("GET", f"/networks?filters={filters}", address=address)
    return [*(c["Names"][0] for c in containers), *(v["Name"] for v in volumes), *(n["Name"] for n in networks)]


def container_of(gateway: str, unit: str) -> dict[str, Any]:
    """Return the engine's description of a unit's container."""
    filters = quote(json.dumps({"label": [f"hawse.gateway={gateway}", f"hawse.sandbox={unit}"]}))
    (found,) = ask("GET", f"/containers/json?all=1&filters={filters}")
    shown: dict[str, Any] = ask("GET", f"/containers/{found['Id']}/json")
    return shown


def clean(gateway: str) -> None:
    """Remove a test's leftovers."""
    filters = quote(json.dumps({"label": [f"hawse.gateway={gateway}"]}))
    for container in ask("GET", f"/containers/json?all=1&filters={filters}"):
        if container["State"] == "paused":
            ask("POST", f"/containers/{container['Id']}/unpause")
        ask("DELETE", f"/containers/{container['Id']}?force=1")
    for volume in ask("GET", f"/volumes?filters={filters}")["Volumes"] or []:
        ask("DELETE", f"/volumes/{volume['Name']}")


def mounts(below: Path) -> list[str]:
    """Return the mount points of this machine whose description contains a path."""
    return [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(below) in line]
