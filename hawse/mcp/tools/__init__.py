"""Tools for agents, grouped by subject. Importing the package declares them."""

from hawse.mcp.tools import (
    backups,
    code,
    commands,
    desktops,
    egress,
    files,
    mounts,
    ports,
    processes,
    terminals,
    tunnels,
)

__all__ = [
    "backups",
    "code",
    "commands",
    "desktops",
    "egress",
    "files",
    "mounts",
    "ports",
    "processes",
    "terminals",
    "tunnels",
]
