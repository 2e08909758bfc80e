"""The rights that a principal can have, and the check of one against the list of a principal.

A right is a name. A gateway lists the rights of the caller in the `principal` of each call that it forwards to a
runtime, so a finer right is a new constant here and a new value in that list, not a change of the wire format.
"""

from collections.abc import Collection
from typing import Final

from hawse.wire import HawseError, Principal

ALL: Final = "*"  # every right, also those that are defined later
VIEW: Final = "view"  # read terminals and recordings, be present at a terminal
OPERATE: Final = "operate"  # everything that changes something, and everything that `VIEW` does not include
PREVIEW: Final = "preview"  # connect to a port with the token of its preview; `OPERATE` includes it

_INCLUDED_IN: Final = {PREVIEW: OPERATE}


def allows(rights: Collection[str], required: str) -> bool:
    """Return whether a principal with `rights` has the right `required`."""
    return ALL in rights or required in rights or _INCLUDED_IN.get(required) in rights


def check(principal: Principal, required: str) -> None:
    """Raise `HawseError` (`forbidden`) unless `principal` has the right `required`."""
    if not allows(principal.rights, required):
        raise HawseError("forbidden", f"this requires the right {required!r}, which {principal.id!r} does not have")
