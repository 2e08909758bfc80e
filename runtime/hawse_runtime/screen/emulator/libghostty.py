"""Imports pyghostty without parsing its C declarations. Only the screen process imports this module."""

from hawse_runtime.screen.emulator import fast_ffi

fast_ffi.install()  # must precede the first import of pyghostty

import pyghostty  # noqa: E402
from pyghostty import Terminal as Emulator  # noqa: E402
from pyghostty._ffi import check, ffi, lib, union_fn  # noqa: E402
from pyghostty.core import init_sized  # noqa: E402

__all__ = ["Emulator", "check", "ffi", "init_sized", "lib", "pyghostty", "union_fn"]
