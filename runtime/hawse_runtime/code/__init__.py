"""Code contexts: the `code.*` methods. docs/decisions/0100-kernels-run-behind-a-host-process.md describes the parts.

Only `hawse_runtime.code.host`, which runs in a process of its own, imports jupyter_client and pyzmq.
"""
