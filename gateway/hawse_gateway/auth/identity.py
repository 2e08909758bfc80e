"""A caller's identity, and its rights in one sandbox."""

from typing import NamedTuple

import msgspec

from hawse.api.rights import in_sandbox
from hawse.wire import HawseError, Principal
from hawse_gateway.store.clock import Moment


class Identity(NamedTuple):
    """An authenticated caller.

    Attributes:
        principal: The caller and its rights at the gateway, which may be limited to certain sandboxes
            (`hawse.api.rights`).
        credential: The id of the credential presented by the caller.
        expires: When the credential expires. None means never.
    """

    principal: Principal
    credential: str
    expires: Moment | None = None


def principal_in(principal: Principal, sandbox: str, *, own: bool = False) -> Principal:
    """Return the caller with its rights in one sandbox.

    Args:
        principal: The caller and its rights at the gateway.
        sandbox: The id of the sandbox, which doesn't have to exist.
        own: Whether the caller owns the sandbox.

    Raises:
        HawseError: `not_found` if the caller has no rights in the sandbox, as if the sandbox did not exist.
    """
    rights = in_sandbox(principal.rights, sandbox, own=own)
    if not rights:
        raise HawseError("not_found", f"unknown sandbox {sandbox[:64]!r}")
    if rights == principal.rights:
        return principal
    return msgspec.structs.replace(principal, rights=rights)
