"""Formats the lines about sandbox isolation that `hawse serve` prints at startup."""

import os
from collections.abc import Iterable, Iterator
from typing import Final

from hawse.api.sandboxes import SandboxInfo, SandboxLimits
from hawse_gateway.providers.base import Capabilities

NETWORKS: Final = {
    "none": "their programs have no network",
    "private": "their programs reach only each other; --network host lets them reach the network of this machine",
    "host": "their programs reach the network of this machine, services on its loopback interface included",
}
POD_NETWORKS: Final = {
    "private": "their programs reach only each other, if the cluster enforces NetworkPolicies; --network host lets them"
    " reach the networks of the cluster and beyond",
    "host": "their programs reach the networks of the cluster and beyond",
}


def isolation_lines(capabilities: Capabilities, sandboxes: Iterable[SandboxInfo]) -> Iterator[str]:
    """Describe how new sandboxes are isolated, and which running sandboxes are isolated differently."""
    if capabilities.isolation == "none":
        who = "root, which may do everything on this machine" if os.getuid() == 0 else "this user"
        can = f"their programs run as {who}, and can read the owner's token"
        yield f"! sandboxes are NOT isolated ({capabilities.isolation_reason}): {can}"
    else:
        networks = POD_NETWORKS if capabilities.provider == "kubernetes" else NETWORKS
        yield f"  sandboxes are isolated by {capabilities.isolation}; {networks[capabilities.networks[0]]}"
        yield from _enforcement_lines(capabilities)
    for sandbox in sandboxes:
        if sandbox.state == "running" and sandbox.isolation != capabilities.isolation:
            yield f"! sandbox {sandbox.id} is already running, with isolation: {sandbox.isolation or 'unknown'}"


def _enforcement_lines(capabilities: Capabilities) -> Iterator[str]:
    """List which limits are enforced and which aren't."""
    known = capabilities.enforcement
    things = {
        "a separate user for each sandbox": known.user,
        "a system call filter": known.system_calls,
        "sizes of in-memory file systems": known.memory_files,
        **{f"limits of {name}": name in capabilities.limits for name in SandboxLimits.__struct_fields__},
    }
    for title, wanted in (("enforced", True), ("not enforced", False)):
        if names := [name for name, enforced in things.items() if enforced is wanted]:
            yield f"  {title}: {', '.join(names)}"
