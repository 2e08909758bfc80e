"""The files of a sandbox: the `file.*` methods, with paths confined by the kernel, quotas and atomic replacement.

This package imports only `core`, `posix` and `rpc`.
"""
