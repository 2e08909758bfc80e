"""The methods of sandboxes and the gateway, declared as types, with one module for each surface.

The servers decode parameters with these types, and the client decodes results. The HTTP API, the OpenAPI document, the
TypeScript types and docs/methods.md are derived from them. To add a surface, add a module here and list it below.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

from hawse.api.spec import Nothing, Params, Spec, method, spec_of

if TYPE_CHECKING:
    from hawse.api.spec import GATEWAY, METHODS

__all__ = ["GATEWAY", "METHODS", "Nothing", "Params", "Spec", "method", "spec_of"]

# Importing a module declares its methods. Servers need all of them, clients only those they call.
SURFACES: Final = (
    "access",
    "backups",
    "code",
    "desktops",
    "egress",
    "files",
    "git",
    "images",
    "mounts",
    "people",
    "ports",
    "processes",
    "recordings",
    "runtime",
    "sandboxes",
    "sessions",
    "terminals",
    "tunnels",
    "watches",
)


def __getattr__(name: str) -> Any:
    if name not in ("METHODS", "GATEWAY"):
        raise AttributeError(f"module 'hawse.api' has no attribute {name!r}")
    for surface in SURFACES:
        importlib.import_module(f"hawse.api.{surface}")
    from hawse.api import spec

    for methods in (spec.METHODS, spec.GATEWAY):  # in the order of `SURFACES`, not in import order
        ordered = sorted(methods.items(), key=lambda item: SURFACES.index(item[1].params.__module__.rpartition(".")[2]))
        methods.clear()
        methods.update(ordered)
    globals().update(METHODS=spec.METHODS, GATEWAY=spec.GATEWAY)
    return globals()[name]
