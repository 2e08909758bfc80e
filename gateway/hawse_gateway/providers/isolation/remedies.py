"""Finds the reason why the kernel refuses user namespaces to bubblewrap, and the remedy."""

import os
from pathlib import Path
from typing import Final

from hawse_gateway.providers.isolation import bubblewrap

# Files below /proc. For each, the content that indicates that user namespaces are refused, and the remedy.
SWITCHES: Final = (
    (
        "sys/user/max_user_namespaces",
        "0",
        "this machine allows no user namespaces; to allow them, run: sudo sysctl user.max_user_namespaces=15000",
    ),
    (
        "sys/kernel/unprivileged_userns_clone",
        "0",
        "only root may create user namespaces; to allow them, run: sudo sysctl kernel.unprivileged_userns_clone=1",
    ),
    (
        "sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor restricts user namespaces; to allow them for bwrap, run: hawse doctor --apparmor | sudo tee"
        " /etc/apparmor.d/hawse-bwrap && sudo apparmor_parser -r /etc/apparmor.d/hawse-bwrap",
    ),
)
CONTAINER: Final = (
    "a container engine or a systemd unit restricts hawse; start the container with: docker run --security-opt"
    " seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined{root}; in a unit,"
    " remove SystemCallFilter= and RestrictNamespaces="
)
FOR_ROOT: Final = " --cap-add SYS_ADMIN"  # needed by launch.py, which mounts the sandbox's directories
CAP_SYS_ADMIN: Final = 1 << 21


def remedy(proc: Path = Path("/proc")) -> str | None:
    """Return the likely reason why bwrap can't create a sandbox, with the remedy. None if no reason can be found.

    Args:
        proc: The directory where procfs is mounted.
    """
    for name, value, text in SWITCHES:
        if _read(proc / name).strip() == value:
            return text
    root = os.getuid() == 0
    status = dict(line.partition(":\t")[::2] for line in _read(proc / "self/status").splitlines())
    restricted = root and not int(status.get("CapEff", "f" * 16), 16) & CAP_SYS_ADMIN
    # The kernel doesn't let bwrap mount a /proc that hides less than the current one.
    hidden = " /proc/sys " in _read(proc / "self/mountinfo")
    if status.get("Seccomp") == "2" or restricted or hidden:
        return CONTAINER.format(root=FOR_ROOT if root else "")
    return None


def apparmor_profile() -> str:
    """Return an AppArmor profile (version 4) that allows bwrap to create user namespaces and restricts nothing else."""
    return f"""\
abi <abi/4.0>,
include <tunables/global>

profile hawse-bwrap "{bubblewrap.find() or "/usr/bin/bwrap"}" flags=(unconfined) {{
  userns,
  include if exists <local/hawse-bwrap>
}}
"""


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
