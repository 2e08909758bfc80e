"""Checks for optional programs and packages in `hawse doctor`, along with how to install them."""

import platform
import shutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Literal, NamedTuple

import click

from hawse.client import Sandbox
from hawse.wire import HawseError

TIMEOUT: Final = 10.0  # time limit for commands in the sandbox, in seconds
SYSTEM: Final = "/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/bin"

# Features that need an additional Python package, each with the package and the extra that installs it.
PACKAGES: Final = (
    ("hawse serve and hawse join", "starlette", "server"),
    ("filtered networks", "cryptography", "egress"),
    ("backups in object storage", "obstore", "s3"),
    ("sandboxes of Docker", "aiodocker", "docker"),
    ("sandboxes of Kubernetes", "lightkube", "kubernetes"),
    ("sign-in with OpenID", "joserfc", "oidc"),
    ("traces", "opentelemetry", "otel"),
    ("screenshots as JPEG and WebP", "PIL", "desktop"),
    ("hawse mcp", "mcp", "mcp"),
)
# Modules from the `server` extra that a gateway or runtime imports when it starts.
SERVER: Final = ("starlette", "uvicorn", "httptools", "h11", "pyghostty", "re2", "uvloop")
# Features that need a program on the gateway's machine, each with the program and how to install it.
PROGRAMS: Final = (
    ("workspaces of a fixed size", "mkfs.ext4", "apt install e2fsprogs"),
    ("tunnels through Cloudflare", "cloudflared", "see Cloudflare Tunnel's download page"),
    ("tunnels through an SSH server", "ssh", "apt install openssh-client"),
)
# Features that need a program in the sandbox, each with the program and its Debian package.
INSIDE: Final = (("git", "git", "git"),)


def require_server(command: str) -> None:
    """Check that the packages needed by a gateway and a runtime are installed.

    Args:
        command: The command that needs them, such as `hawse serve`.

    Raises:
        click.ClickException: This is not Linux, or a package is missing. The message contains the command that installs
            it.
    """
    if platform.system() != "Linux":
        raise click.ClickException(f"`{command}` needs Linux; on this machine, hawse is a client only")
    if missing := [name for name in SERVER if find_spec(name) is None]:
        raise click.ClickException(
            f"`{command}` needs the server ({', '.join(missing)} not found): pip install 'hawse[server]'"
        )


class Check(NamedTuple):
    """A line in the report."""

    name: str
    result: Literal["ok", "warning", "failed"]
    text: str


def missing(name: str, install: str) -> Check:
    """Return the line for an unavailable feature. The line is not an error, because the feature is optional."""
    return Check(name, "ok", f"not available: {install}")


def of_machine() -> Iterator[Check]:
    """Check the features available to a gateway on this machine. Blocks for a short time."""
    for name, package, extra in PACKAGES:
        if find_spec(package) is None:
            yield missing(name, f"pip install 'hawse[{extra}]'")
        else:
            yield Check(name, "ok", f"the package {package} is installed")
    if platform.system() != "Linux":
        yield missing("mounts", "a gateway needs Linux")
        return
    for name, program, install in PROGRAMS:
        path = shutil.which(program) or shutil.which(program, path=SYSTEM)
        yield missing(name, install) if path is None else Check(name, "ok", path)
    try:
        rclone = import_module("hawse_gateway.mounts.rclone").check_available()
    except HawseError as error:
        yield missing("mounts", error.message)
    else:
        yield Check("mounts", "ok", f"{rclone} and /dev/fuse")
    try:
        mksquashfs = import_module("hawse_gateway.backups.squashfs").find()
        squashfuse = import_module("hawse_gateway.mounts.squashfuse").check_available()
    except HawseError as error:
        yield missing("overlays of backups", error.message)
    else:
        yield Check("overlays of backups", "ok", f"{mksquashfs}, {squashfuse} and /dev/fuse")


async def of_sandbox(box: Sandbox) -> list[Check]:
    """Check the features available in a sandbox, starting it if needed. Raises `HawseError`."""
    found = [await _desktop(box)]
    names = " ".join(program for _, program, _ in INSIDE)
    command = f"for name in {names}; do command -v $name >/dev/null || echo $name; done"
    lacking = (await box.exec(command, timeout=TIMEOUT)).stdout.decode().split()
    for name, program, package in INSIDE:
        if program in lacking:
            found.append(missing(name, f"the sandbox lacks it: apt-get install {package}"))
        else:
            found.append(Check(name, "ok", f"the sandbox has {program}"))
    for language in await box.code.languages():
        name = f"code in {language.language}"
        if language.kernel is None:
            found.append(missing(name, language.install))
        else:
            found.append(Check(name, "ok", language.title or language.kernel))
    return found


async def _desktop(box: Sandbox) -> Check:
    try:
        why = await box.desktop.unavailable()
    except HawseError as error:
        if error.code != "unknown_method":
            raise
        why = "the gateway is an older version"
    return Check("desktop", "ok", "the sandbox has Xvnc and openbox") if why is None else missing("desktop", why)
