"""Who may do what: one table. The gateway says on each call who makes it, and here is where it counts.

A role that is not in the table may do nothing, and a viewer may do nothing that is not in its row: a method that is
new is forbidden to it until somebody has thought about it.
"""

from typing import Final

from hawse.wire import HawseError

OWNER: Final = "owner"  # also who says nothing: whoever reaches the runtime's socket without a gateway

# None: everything.
RIGHTS: Final[dict[str, frozenset[str] | None]] = {
    OWNER: None,
    "viewer": frozenset(
        {
            "recording.get",
            "recording.list",
            "recording.read",  # without what was typed
            "recording.watch",
            "terminal.attach",  # read-only, whatever its parameters say: see `Viewer`
            "terminal.get",
            "terminal.history",
            "terminal.list",
            "terminal.presence",
            "terminal.screen",
            "terminal.wait",
        }
    ),
}


def check(role: str, method: str) -> None:
    """Raises `forbidden`."""
    allowed = RIGHTS.get(role, frozenset())
    if allowed is not None and method not in allowed:
        raise HawseError("forbidden", f"{method} is not for the role {role!r}")
