"""This gateway's principals: the owner, and the gateway itself as a caller.

The gateway adds the principal to each forwarded call, and the runtime checks the principal's rights. A runtime without
`ABILITY_PRINCIPALS` does not check rights, so only principals with all rights may use that runtime.
"""

from collections.abc import Collection
from typing import Final

from hawse.api import rights
from hawse.wire import HawseError, Principal
from hawse.wire.messages import ABILITY_PRINCIPALS

OWNER: Final = Principal(id="owner", name="owner", kind="owner", rights=(rights.ALL,))
PREVIEW: Final = Principal(id="preview", name="preview", kind="guest", rights=(rights.PREVIEW,))
GATEWAY: Final = Principal(
    id="gateway", name="gateway", kind="service", rights=(rights.ALL, rights.CONTROL)
)  # the principal that makes the gateway's own calls


def role_of(principal: Principal) -> str:
    """Return the value for `welcome.role`: `owner`, `operator`, `writer` or `viewer`."""
    return rights.role_of(principal.rights)


def check_link(principal: Principal, abilities: Collection[str]) -> None:
    """Raise `HawseError` (`forbidden`) unless a runtime with `abilities` can be trusted with calls from `principal`."""
    if rights.ALL not in principal.rights and ABILITY_PRINCIPALS not in abilities:
        raise HawseError("forbidden", "the sandbox's runtime is too old to check rights: only its owner may call it")
