"""The roles of clients, and what each may ask of the gateway itself. What it may do in a sandbox, the runtime decides.

A gateway tells its runtime who calls. A runtime of an earlier version would not listen, and lives on when the gateway
is replaced: to such a one, only owners are let through.
"""

from collections.abc import Collection
from typing import Final

from hawse.api import GATEWAY
from hawse.wire import HawseError

OWNER: Final = "owner"
VIEWER: Final = "viewer"

# None: everything.
RIGHTS: Final[dict[str, frozenset[str] | None]] = {
    OWNER: None,
    VIEWER: frozenset(name for name, spec in GATEWAY.items() if spec.viewer),
}
ABILITY: Final = "roles"  # a runtime that has it heeds the role of a call


def check(role: str, method: str) -> None:
    """Whether `role` may call a method of the gateway. Raises `forbidden`."""
    allowed = RIGHTS.get(role, frozenset())
    if allowed is not None and method not in allowed:
        raise HawseError("forbidden", f"{method} is not for the role {role!r}")


def check_link(role: str, abilities: Collection[str]) -> None:
    """Whether a runtime can be trusted with calls of `role`. Raises `forbidden`."""
    if role != OWNER and ABILITY not in abilities:
        raise HawseError("forbidden", "the sandbox's runtime is older than roles: only its owner is let through")
