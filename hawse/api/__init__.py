"""The methods of a sandbox, as types: pure msgspec, one module for each surface, one table for all.

The runtime decodes parameters with it, the client results, and the gateway makes its HTTP door and OpenAPI from it.
A new surface is a module here with its structs and its `METHODS`, added to the line below.
"""

from hawse.api import files, ports, processes, watches
from hawse.api.spec import Nothing, Spec

METHODS: dict[str, Spec] = {**files.METHODS, **ports.METHODS, **processes.METHODS, **watches.METHODS}

__all__ = ["METHODS", "Nothing", "Spec"]
