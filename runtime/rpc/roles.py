"""Who may do what: one table. The gateway says on each call who makes it, and here is where it counts.

A role that is not in the table may do nothing, and a viewer may do nothing that `hawse.api` does not say it may: a
method that is new is forbidden to it until somebody has thought about it.
"""

from typing import Final

from hawse.api import METHODS
from hawse.wire import HawseError

OWNER: Final = "owner"  # also who says nothing: whoever reaches the runtime's socket without a gateway
PREVIEW: Final = "preview"  # a gateway, for whoever has the address of a preview

# None: everything.
RIGHTS: Final[dict[str, frozenset[str] | None]] = {
    OWNER: None,
    PREVIEW: frozenset({"port.connect"}),  # by a token
    "viewer": frozenset(name for name, spec in METHODS.items() if spec.viewer),
}


def check(role: str, method: str) -> None:
    """Raises `forbidden`."""
    allowed = RIGHTS.get(role, frozenset())
    if allowed is not None and method not in allowed:
        raise HawseError("forbidden", f"{method} is not for the role {role!r}")
