"""The emulator beside a terminal's journal: snapshots, text formats, key encoding and deferred feeding.

It knows no viewers, calls or PTYs.
"""

from runtime.screen import fast_ffi

fast_ffi.install()  # before a module of this package imports pyghostty
