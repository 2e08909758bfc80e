"""Modules that are only needed in rare cases: they are loaded on the first use of an attribute.

websockets imports `importlib.metadata`, for versions that are not released, and `urllib.request`, for proxies. Both
import modules for mail and archives, which take a seventh of the time until `hawse shell` has a prompt.
The others are for tracebacks, help and descriptions of types. `ssl` is not among them, because
asyncio uses it for each connection.
"""

import importlib
import sys
import urllib  # noqa: F401  # the package of a module below
from types import ModuleType
from typing import Any, Final

RARE: Final = (
    "importlib.metadata",
    "msgspec.inspect",
    "textwrap",
    "tokenize",
    "urllib.request",
)


class DeferredModule(ModuleType):
    """Stands for a module until an attribute of it is needed."""

    def __getattr__(self, name: str) -> Any:
        return getattr(load(self.__name__), name)


def defer(*names: str) -> None:
    """Let `import NAME` load nothing until the module is used.

    This does not import the package of a module. If the package is imported later, call this again to set its attribute
    for the module.

    Args:
        names: Modules. Loaded ones remain unchanged.
    """
    for name in names:
        module = sys.modules.setdefault(name, DeferredModule(name))
        parent, _, child = name.rpartition(".")
        if isinstance(module, DeferredModule) and parent in sys.modules:
            setattr(sys.modules[parent], child, module)


def load(name: str) -> ModuleType:
    """Return the module itself, which replaces this placeholder."""
    if isinstance(sys.modules.get(name), DeferredModule):
        del sys.modules[name]
    return importlib.import_module(name)
