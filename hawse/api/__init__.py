"""The methods of a sandbox, as types: pure msgspec, one module for each surface, one table for all.

The runtime decodes parameters with it, the client results, and the gateway makes its HTTP door and OpenAPI from it.
A new surface is a module here with its structs and its `METHODS`, added to the lines below.
"""

from hawse.api import (
    automation,
    files,
    gateway,
    git,
    people,
    ports,
    processes,
    recordings,
    runtime,
    sessions,
    terminals,
    watches,
)
from hawse.api.rights import OPERATE, PREVIEW, VIEW
from hawse.api.spec import Nothing, Spec

# In a sandbox.
METHODS: dict[str, Spec] = {
    **runtime.METHODS,
    **terminals.METHODS,
    **people.METHODS,
    **automation.METHODS,
    **recordings.METHODS,
    **processes.METHODS,
    **sessions.METHODS,
    **ports.METHODS,
    **files.METHODS,
    **watches.METHODS,
    **git.METHODS,
}

# Without one: the gateway's own.
GATEWAY: dict[str, Spec] = gateway.METHODS


def required(method: str) -> str:
    """Return the right that a call of `method` requires, of a sandbox or of the gateway; `OPERATE` if not listed."""
    if method == "port.connect":
        return PREVIEW
    spec = METHODS.get(method) or GATEWAY.get(method)
    return VIEW if spec is not None and spec.viewer else OPERATE


__all__ = ["GATEWAY", "METHODS", "Nothing", "Spec", "required"]
