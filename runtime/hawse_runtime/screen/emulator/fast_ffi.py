"""Loads pyghostty without parsing its C declarations, which takes 0.4 s of processor time at each start.

pyghostty gives 80 KB of C declarations to cffi, which parses them when it is imported, and parses type names again when
they are first used. `ghostty_abi.py` contains the result for one version of pyghostty; `make generate` writes it. With
another version, pyghostty is imported as it is.
"""

import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any, Final

SOURCES: Final = ("_cdef.py", "_ffi.py")  # the files of pyghostty that declare its C interface


class DeclaredFFI:
    """Stands for a `cffi.FFI` whose declarations are known already, until pyghostty has been imported."""

    def __init__(self, ffi: Any) -> None:
        self._ffi = ffi

    def cdef(self, declarations: str) -> None:
        """Ignore declarations: they have been compiled."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ffi, name)


def digest() -> str | None:
    """Return what identifies the C interface of the installed pyghostty; None if it is not installed."""
    spec = importlib.util.find_spec("pyghostty")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in SOURCES)).hexdigest()


def install() -> bool:
    """Import pyghostty with the compiled declarations. Return whether that was possible.

    It is not if pyghostty was imported before, or if the declarations are those of another version.
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
