"""Loads pyghostty without parsing its C declarations, which would take 0.4 s of CPU time at each startup.

pyghostty passes 80 KB of C declarations to cffi, which parses them on import and parses type names on first use.
`ghostty_abi.py`, which is written by `make generate`, contains the result for one version of pyghostty. Other versions
are imported normally.
"""

import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any, Final

SOURCES: Final = ("_cdef.py", "_ffi.py")  # the files that declare pyghostty's C interface


class DeclaredFFI:
    """Stands in for `cffi.FFI` while pyghostty is imported, providing precompiled declarations."""

    def __init__(self, ffi: Any) -> None:
        self._ffi = ffi

    def cdef(self, declarations: str) -> None:
        """Ignore the declarations, which are already compiled."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ffi, name)


def digest() -> str | None:
    """Return a digest of the installed pyghostty's C interface, or None if pyghostty is not installed."""
    spec = importlib.util.find_spec("pyghostty")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in SOURCES)).hexdigest()


def install() -> bool:
    """Import pyghostty with the precompiled declarations. Return whether this succeeded.

    It fails if pyghostty has already been imported or the declarations are for another version.
    """
    if "pyghostty" in sys.modules:
        return False
    abi = importlib.import_module("hawse_runtime.screen.emulator.ghostty_abi")
    if digest() != abi.DIGEST:
        return False
    cffi: Any = importlib.import_module("cffi")
    declared, original = DeclaredFFI(abi.ffi), cffi.FFI
    cffi.FFI = lambda: declared
    try:
        importlib.import_module("pyghostty")
    finally:
        cffi.FFI = original
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "pyghostty" and getattr(module, "ffi", None) is declared:
            module.ffi = abi.ffi  # type: ignore[attr-defined]  # hot paths call it without `__getattr__`
    return True
