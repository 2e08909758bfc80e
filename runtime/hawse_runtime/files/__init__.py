"""A sandbox's files: the `file.*` methods, with kernel-confined paths, quotas and atomic replacement.

This package imports only `core`, `posix` and `rpc`.
"""
