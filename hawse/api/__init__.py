"""The methods of a sandbox and of the gateway, declared as types: one module for each surface.

The servers decode parameters with these types, and the client decodes results. The HTTP API, the OpenAPI document, the
TypeScript types and docs/methods.md are derived from them. A new surface is a module here that is imported below.
"""

from hawse.api import (  # noqa: F401  # importing a module declares its methods
    access,
    audit,
    automation,
    code,
    files,
    gateway,
    git,
    images,
    people,
    ports,
    processes,
    recordings,
    runtime,
    sandboxes,
    sessions,
    terminals,
    watches,
)
from hawse.api.spec import GATEWAY, METHODS, Nothing, Params, Spec, method, spec_of

__all__ = ["GATEWAY", "METHODS", "Nothing", "Params", "Spec", "method", "spec_of"]
