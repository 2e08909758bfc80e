"""Files of the sandbox: `file.*`, resolved under a root by the kernel, with quotas and atomic replacement.

It knows no processes; only `core`, `posix` and `rpc` are below it.
"""
