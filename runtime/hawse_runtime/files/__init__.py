"""Files of the sandbox: `file.*`, resolved under a root by the kernel, with quotas and atomic replacement.

Imports only `core`, `posix` and `rpc`.
"""
