"""Build the command line that runs a runtime in bubblewrap, and check whether it works on this machine.

The root is minimal: /usr and Python read-only, a few files of /etc, new /proc, /dev, /tmp and /run, and of the state
directory only the workspace and the directory of the socket. It protects against accidents, not against kernel
exploits; the network is shared (docs/decisions/0002).
"""

import importlib.util
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gateway.providers.state_directory import SandboxPaths

WORKSPACE: Final = "/workspace"
RUN: Final = "/run/hawse"
# The first process of the sandbox. It ends when the runtime ends, and the kernel then kills every other process of the
# namespace; the first process of bwrap itself would wait for all of them. A waiting shell also reaps orphans.
INIT: Final = ("/bin/sh", "-c", '"$@" & wait $!', "hawse")
PROBE_TIMEOUT: Final = 10.0  # s

# The files of /etc that programs need to run, to look up users and hosts, and to verify certificates; not shadow.
ETC: Final = (
    "alternatives bash.bashrc bash_completion.d ca-certificates ca-certificates.conf debian_version fonts gai.conf "
    "group host.conf hosts inputrc issue ld.so.cache ld.so.conf ld.so.conf.d lessfilter locale.alias locale.conf "
    "localtime login.defs magic mime.types nsswitch.conf os-release passwd pki profile profile.d protocols "
    "resolv.conf services shells skel ssl terminfo timezone vim xattr.conf zsh"
).split()
TOP: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


def find() -> str | None:
    return shutil.which("bwrap")


def root(bwrap: str) -> list[str]:
    """Return the flags that all sandboxes share. The order matters: later mounts cover earlier ones."""
    return [bwrap, *_namespaces(bwrap), *_system(), *_python(), "--clearenv", *_environment()]


def command(bwrap: str, paths: SandboxPaths, argv: list[str]) -> list[str]:
    """Return the command that runs `argv` in the sandbox of `paths`. All processes there end with `argv`."""
    mounts = ["--bind", str(paths.workspace), WORKSPACE, "--bind", str(paths.run), RUN, "--chdir", WORKSPACE]
    return [*root(bwrap), *mounts, "--as-pid-1", "--", *INIT, *argv]


def probe(bwrap: str) -> str | None:
    """Run `true` with the real flags. Return None if that works, otherwise the error that bwrap printed."""
    try:
        run = subprocess.run(
            [*root(bwrap), "--", "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if run.returncode == 0:
        return None
    return run.stderr.strip() or f"bwrap ended with exit code {run.returncode}"


def _namespaces(bwrap: str) -> Iterator[str]:
    yield from ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
    yield from ("--cap-drop", "ALL", "--hostname", "hawse")
    if "--disable-userns" in _help(bwrap):  # from 0.8
        yield "--disable-userns"


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in TOP:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run")
    for name in ("/tmp", "/var/tmp"):
        yield from ("--perms", "1777", "--tmpfs", name)
    yield from ("--perms", "0755", "--dir", "/etc")
    for name in ETC:
        path = Path("/etc", name)
        if path.exists():
            yield from ("--ro-bind", os.path.realpath(path), str(path))


def _python() -> Iterator[str]:
    """Bind the interpreter, what is installed in it, and the packages of a checkout."""
    places = [Path(sys.prefix), Path(sys.base_prefix), *_packages()]
    places += [place.resolve() for place in places]
    kept: list[Path] = []
    for place in sorted(set(places)):  # a parent comes before what is in it
        if not any(place.is_relative_to(outer) for outer in (Path("/usr"), *kept)):
            kept.append(place)
            yield from ("--ro-bind", str(place), str(place))


def _packages() -> Iterator[Path]:
    for package in ("hawse", "runtime"):
        spec = importlib.util.find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            yield Path(place)


def _environment() -> Iterator[str]:
    shell = shutil.which("bash") or "/bin/sh"
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    values = {"PATH": path, "HOME": WORKSPACE, "LANG": "C.UTF-8", "SHELL": shell, "USER": _user(), "LOGNAME": _user()}
    for name, value in values.items():
        yield from ("--setenv", name, value)


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _help(bwrap: str) -> str:
    run = subprocess.run([bwrap, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return run.stdout + run.stderr
