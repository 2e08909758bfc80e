"""The check of a call's right at the gateway, before a sandbox is started for it. The runtime checks it again."""

from collections.abc import Callable
from typing import Any

import msgspec

from hawse.api import GATEWAY, METHODS
from hawse.api.rights import ALL, CONTROL, check, check_somewhere
from hawse.api.spec import SELECTED
from hawse.wire import Call, Principal
from hawse_gateway.auth.identity import principal_in

_PARAMS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NAME = msgspec.json.Decoder(str)


Owns = Callable[[Principal, str], bool]  # whether a sandbox belongs to a caller


def owns_nothing(principal: Principal, sandbox: str) -> bool:
    """The `Owns` of a gateway whose sandboxes have no owners."""
    return False


def check_call(principal: Principal, call: Call, sandbox: str | None, owns: Owns = owns_nothing) -> Principal:
    """Return the caller with the rights that it has where the call acts, if it may make the call.

    A method that this gateway does not know is left to the runtime, which may be a later version.

    Args:
        principal: The caller, with its rights at the gateway.
        call: The call, with its parameters not decoded.
        sandbox: The sandbox that it is for. None: it is for a method of the gateway itself.
        owns: Returns whether a sandbox belongs to the caller.

    Raises:
        HawseError: `forbidden`; `not_found`, as for a sandbox that does not exist, if the caller has no right in it.
    """
    spec = (GATEWAY if sandbox is None else METHODS).get(call.method)
    if spec is not None and spec.target is not None:
        sandbox = _value(call.params, spec.target)
    if sandbox is not None:
        principal = principal_in(principal, sandbox, own=owns(principal, sandbox))
    if spec is None or (ALL in principal.rights and spec.requires != CONTROL):
        return principal
    if spec.terminal is None:
        check(principal, spec.requires)
    elif spec.terminal == SELECTED:
        check_somewhere(principal, spec.requires)
    else:
        check(principal, spec.requires, _value(call.params, spec.terminal))
    return principal


def _value(params: Any, name: str) -> str | None:
    """Return the text that is the parameter `name`; None if there is none, which the runtime refuses."""
    try:
        return _NAME.decode(_PARAMS.decode(params)[name])
    except (KeyError, msgspec.MsgspecError):
        return None
