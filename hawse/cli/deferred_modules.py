"""Defers loading of rarely used modules until the first use of an attribute.

websockets imports `importlib.metadata` for unreleased versions, and `urllib.request` for proxies. Both import modules
for mail and archives. Importing those takes a seventh of the time before `hawse shell` shows its prompt. The other
deferred modules are for tracebacks, help and type descriptions. `ssl` is not deferred, because asyncio uses it for each
connection.
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
    """A placeholder for a module until one of the module's attributes is needed."""

    def __getattr__(self, name: str) -> Any:
        return getattr(load(self.__name__), name)


def defer(*names: str) -> None:
    """Make `import NAME` load nothing until the module is used.

    This does not import the module's parent package. If the package is imported later, call this again to set the
    package's attribute for the module.

    Args:
        names: The names of the modules. Modules that are already loaded are left alone.
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
