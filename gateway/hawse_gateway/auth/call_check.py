"""Checks a call's rights and parameter names at the gateway, before a sandbox is started for the call.

The runtime checks the rights as well. Only the gateway checks the names, because a runtime can be older than the
gateway.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from hawse.api import GATEWAY, METHODS
from hawse.api.rights import ALL, CONTROL, check, check_somewhere
from hawse.api.spec import SELECTED
from hawse.rpc.parameters import refuse_unknown
from hawse.wire import Call, Principal
from hawse_gateway.auth.identity import principal_in

_PARAMS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NAME = msgspec.json.Decoder(str)


Owns = Callable[[Principal, str], bool]  # returns whether a caller owns a sandbox


def owns_nothing(principal: Principal, sandbox: str) -> bool:
    """Implements `Owns` for gateways whose sandboxes have no owners."""
    return False


def check_call(principal: Principal, call: Call, sandbox: str | None, owns: Owns = owns_nothing) -> Principal:
    """Check a call, and return the caller with its rights in the sandbox or at the gateway.

    If the gateway doesn't know the method, the call is only checked by the runtime, which may be newer.

    Args:
        principal: The caller, with its rights at the gateway.
        call: The call, with encoded parameters.
        sandbox: The sandbox. None if the method is one of the gateway's own.
        owns: Returns whether the caller owns a sandbox.

    Raises:
        HawseError: `forbidden`, or `not_found` if the caller has no rights in the sandbox, as if it did not exist;
            `invalid_params` for an unknown parameter.
    """
    spec = (GATEWAY if sandbox is None else METHODS).get(call.method)
    if spec is not None and spec.target is not None:
        sandbox = _value(call.params, spec.target)
    if sandbox is not None:
        principal = principal_in(principal, sandbox, own=owns(principal, sandbox))
    if spec is None:
        return principal
    if ALL in principal.rights and spec.requires != CONTROL:
        pass
    elif spec.terminal is None:
        check(principal, spec.requires)
    elif spec.terminal == SELECTED:
        check_somewhere(principal, spec.requires)
    else:
        check(principal, spec.requires, _value(call.params, spec.terminal))
    refuse_unknown(call.params, spec.params)
    return principal


def _value(params: Any, name: str) -> str | None:
    """Return the string parameter `name`, or None if it's missing. The runtime refuses calls that lack it."""
    try:
        return _NAME.decode(_PARAMS.decode(params)[name])
    except (KeyError, msgspec.MsgspecError):
        return None
