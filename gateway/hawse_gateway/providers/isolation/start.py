"""Prepares everything that is needed to start a runtime in bubblewrap: user, files, socket and secret.

The socket is bound outside the sandbox, and the runtime inherits it and listens on it. The socket's path therefore
doesn't have to exist inside the sandbox, and programs in the sandbox can't replace the socket.
"""

import hashlib
import os
import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hawse.api.sandboxes import Network, SandboxLimits
from hawse.link.sockets import socket_address
from hawse_gateway.providers.base import Endpoint
from hawse_gateway.providers.isolation import bubblewrap, cgroups, disk_image, host_user
from hawse_gateway.providers.isolation.bubblewrap import BubblewrapSandbox, HostUser
from hawse_gateway.providers.state_directory import SandboxPaths, StateError

TOKEN_BYTES: Final = 32
CGROUP_NAME: Final = 32  # hexadecimal digits
RUNTIME_THREADS: Final = 256  # upper bound for the number of threads in a runtime and its helper processes


@dataclass(frozen=True)
class PreparedStart:
    """The command that starts the runtime.

    Attributes:
        argv: The command.
        fds: The descriptors that the runtime inherits.
    """

    argv: list[str]
    fds: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The properties that a sandbox must have.

    Attributes:
        network: The network for its programs.
        limits: The limits for its programs.
        tree: The part of the cgroup tree where cgroups are created. None if they can't be created.
        authority: The proxy's CA certificate, in PEM. None if there is no proxy.
    """

    network: Network
    limits: SandboxLimits
    tree: cgroups.Tree | None
    authority: str | None = None


@contextmanager
def prepared(
    paths: SandboxPaths, wanted: Wanted, runtime: Sequence[str], others: Sequence[SandboxPaths] = ()
) -> Iterator[PreparedStart]:
    """Yield the command that starts a runtime. Exiting the `with` block closes its descriptors.

    Args:
        paths: The sandbox's paths.
        wanted: The properties that the sandbox must have.
        runtime: The runtime's program and arguments, except for the arguments that describe its environment.
        others: All other sandboxes, whose users must not be assigned to this one.

    Raises:
        StateError: bwrap is not installed.
        OSError: The user, a file, or the socket could not be prepared.
    """
    bwrap = bubblewrap.find()
    if bwrap is None:
        raise StateError("bwrap is no longer installed")
    user = None
    if os.getuid() == 0:
        uid = host_user.choose(paths.uid, [other.uid for other in others])
        # Without a cgroup, processes are limited per user. The runtime's threads and helper processes count toward this
        # limit.
        count = wanted.limits.processes or cgroups.PROCESSES
        user = HostUser(uid=uid, processes=count + RUNTIME_THREADS, disk=_disk(paths))
    _leave_token(paths)
    if user is not None:
        for directory in (paths.workspace, paths.run):
            host_user.give(directory, user.uid)
        os.chown(paths.run / "token", user.uid, user.uid)
    with (
        bound_socket(paths.socket) as listener,
        bubblewrap.user_files() as (passwd, group),
        nullcontext(()) if wanted.authority is None else bubblewrap.certificate_files(wanted.authority) as certificates,
        cgroups.created(wanted.tree, cgroup_name(paths), wanted.limits, paths.cgroups) as cgroup,
    ):
        place = BubblewrapSandbox(
            workspace=paths.workspace,
            private=paths.run,
            network=wanted.network,
            passwd=passwd,
            group=group,
            certificates=certificates,
        )
        where = ["--listener", str(listener), "--workspace", bubblewrap.WORKSPACE, *bubblewrap.runtime_options(place)]
        for option, fds in (("--cgroup-of-thread", cgroup.tasks), ("--cgroup-of-programs", cgroup.processes)):
            for fd in fds:
                where += [option, str(fd)]
        kills = () if cgroup.kills is None else (cgroup.kills,)
        for fd in kills:
            where += ["--oom-kills", str(fd)]
        argv = bubblewrap.command(bwrap, place, [*runtime, *where], user)
        yield PreparedStart(argv, (listener, passwd, group, *certificates, *cgroup.tasks, *cgroup.processes, *kills))


def cgroup_name(paths: SandboxPaths) -> str:
    """Return the name for a sandbox's cgroup. Like the path of the sandbox's directory, the name is unique on this
    machine."""
    return hashlib.sha256(os.fsencode(paths.home)).hexdigest()[:CGROUP_NAME]


def endpoint(paths: SandboxPaths) -> Endpoint:
    """Return the endpoint of the most recently started runtime. Without isolation, the endpoint has no token and no
    required user."""
    try:
        secret = paths.token.read_text()
    except OSError:
        return Endpoint(paths.socket)
    uid = host_user.assigned(paths.uid) if os.getuid() == 0 else os.getuid()
    return Endpoint(paths.socket, secret, uid)


@contextmanager
def bound_socket(path: Path) -> Iterator[int]:
    """Yield the descriptor of a Unix socket bound to `path`. Only this user can connect to it."""
    path.unlink(missing_ok=True)  # an earlier start may have left its socket behind
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        os.fchmod(listener.fileno(), 0o600)  # sets the mode of the file that `bind` creates (unix(7))
        with socket_address(path) as address:
            listener.bind(address)
        yield listener.fileno()


def _disk(paths: SandboxPaths) -> tuple[str, str, str] | None:
    """Return the arguments for mounting a size-limited workspace, or None if the workspace is a plain directory. Raises
    `StateError`."""
    if not paths.disk.exists():
        return None
    mount = disk_image.find_mount()
    if mount is None:
        raise StateError("this machine can no longer mount the file system of a workspace with a size limit")
    return mount, str(paths.disk), str(paths.workspace)


def _leave_token(paths: SandboxPaths) -> None:
    """Write a new secret for the runtime and for later gateways."""
    secret = secrets.token_urlsafe(TOKEN_BYTES)
    for path in (paths.token, paths.run / "token"):
        path.unlink(missing_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="ascii") as file:
            file.write(secret)
