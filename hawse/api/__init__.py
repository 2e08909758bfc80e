"""The methods of a sandbox and of the gateway as types: pure msgspec, one module for each surface.

The servers decode parameters with them, the client results; the HTTP API, OpenAPI, the TypeScript types and the
method reference derive from them. A new surface is a module here, imported below.
"""

from hawse.api import (  # noqa: F401  # importing a module declares its methods
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
from hawse.api.spec import GATEWAY, METHODS, Nothing, Params, Spec, method, spec_of

__all__ = ["GATEWAY", "METHODS", "Nothing", "Params", "Spec", "method", "spec_of"]
