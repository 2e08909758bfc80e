"""A gateway whose sandboxes are containers, and an image with network programs of this machine."""

import fcntl
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import psutil

from hawse_gateway.providers.docker.provider import GATEWAY_ID
from hawse_gateway.providers.state_directory import StateDirectory
from tests.support import docker
from tests.support.bundle import BUNDLES, ensure_tests_bundle
from tests.support.stack import Stack

TOOLS: Final = "hawse-test-tools"  # curl, git and Python, with pip and websockets
OWN_CERTIFICATE: Final = b"-----BEGIN CERTIFICATE-----\nof the image\n-----END CERTIFICATE-----\n"
NOT_COPIED: Final = ("__pycache__", "config-*", "ensurepip", "idlelib", "site-packages", "dist-packages", "test")


class DockerStack(Stack):
    """A gateway with `--provider docker`, whose containers and volumes are removed at the end."""

    @property
    def gateway(self) -> str:
        """The id in the labels of containers and volumes."""
        return StateDirectory(self.state).identity(GATEWAY_ID)

    async def start(self) -> None:
        ensure_tests_bundle()
        docker.make_images()
        bundles = StateDirectory(self.state).root / "bundles"
        if not bundles.is_symlink():
            bundles.symlink_to(BUNDLES)
        await super().start()

    async def close(self) -> None:
        await super().close()
        docker.clean(self.gateway)

    def processes(self, unit: str) -> list[psutil.Process]:
        """The processes of a unit's container: its init and all descendants."""
        init = psutil.Process(docker.container_of(self.gateway, unit)["State"]["Pid"])
        return [init, *init.children(recursive=True)]


def make_tools_image() -> None:
    """Build the image TOOLS, with programs of this machine and their libraries, unless the engine has it.

    Its certificates are at Alpine's paths: a file, and a link to it.
    """
    BUNDLES.mkdir(parents=True, exist_ok=True)
    with BUNDLES.with_name("tools.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process builds the image, and the others wait
        existing = {tag for image in docker.ask("GET", "/images/json") for tag in image["RepoTags"] or []}
        if f"{TOOLS}:latest" not in existing:
            docker.import_image(TOOLS, _tools())


def _tools() -> docker.Files:
    core = Path(_output("git", "--exec-path").strip())
    python = Path(sys.executable).resolve()
    standard = Path(sysconfig.get_path("stdlib"))
    site = Path(sysconfig.get_path("purelib"))
    programs = [Path(shutil.which(name) or name).resolve() for name in ("curl", "git")]
    programs += [python, *(core / name for name in ("git", "git-remote-http", "git-remote-https"))]
    trees = {**_tree(standard, standard), **_tree(Path("/usr/share/git-core"), Path("/usr/share/git-core"))}
    for package in ("pip", "websockets"):
        trees |= _tree(site / package, standard / package)  # a directory that every Python searches
    modules = [path for path in trees.values() if path.suffix == ".so"]
    files: dict[str, str | bytes | Path] = {_inside(path): path for path in (*programs, *_libraries(programs, modules))}
    files |= trees
    files |= {
        "usr/bin/python3": f"/{_inside(python)}",
        "etc/ssl/certs/ca-certificates.crt": OWN_CERTIFICATE,
        "etc/ssl/cert.pem": "certs/ca-certificates.crt",
    }
    return {**docker.programs(), **files}


def _inside(path: Path) -> str:
    return str(path).removeprefix("/")


def _tree(source: Path, target: Path) -> dict[str, Path]:
    """Return the files below a directory, by path in the image."""
    found = {}
    for path in source.rglob("*"):
        parts = path.relative_to(source)
        if path.is_file() and not any(parent.match(name) for parent in (parts, *parts.parents) for name in NOT_COPIED):
            found[_inside(target / parts)] = path
    return found


def _libraries(programs: Iterable[Path], modules: Iterable[Path]) -> Iterator[Path]:
    yield Path("/usr/bin/ld.so").readlink()  # the dynamic linker, at the path in the programs
    for path in (*programs, *modules):
        # A line is `NAME => PATH (ADDRESS)`.
        yield from map(Path, re.findall(r"=> (/\S+) \(0x", _output("ld.so", "--list", str(path))))


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
