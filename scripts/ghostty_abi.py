"""Compile the C declarations of the installed pyghostty to `runtime/hawse_runtime/screen/emulator/ghostty_abi.py`."""

import importlib.util
import re
import tempfile
from pathlib import Path
from typing import Any

from cffi import FFI

from hawse_runtime.screen.emulator.fast_ffi import SOURCES, digest

HEADER = '''"""The C declarations of pyghostty, compiled by cffi. `make generate` writes this file: see `fast_ffi`."""

# ruff: noqa
# mypy: ignore-errors
'''


def ghostty_abi() -> str:
    """Return the source of the module."""
    spec = importlib.util.find_spec("pyghostty")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    declared, interface = ((folder / name).read_text("utf-8") for name in SOURCES)
    names: dict[str, Any] = {}
    exec(compile(declared, SOURCES[0], "exec"), names)
    ffi = FFI()
    ffi.set_source("ghostty_abi", None)  # no C source, because the library is opened when it is needed
    ffi.cdef(names["CDEF"])
    for more in re.findall(r"ffi\.cdef\('''(.*?)'''\)", interface, re.DOTALL):
        ffi.cdef(more)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "ghostty_abi.py"
        ffi.emit_python_code(str(path))
        compiled = path.read_text("utf-8").replace("# auto-generated file\n", "")
    return f"{HEADER}\n{compiled}\nDIGEST = {digest()!r}\n"
