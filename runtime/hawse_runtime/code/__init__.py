"""Code contexts: the `code.*` methods. docs/decisions/0100-run-kernels-behind-a-host-process.md describes the parts.

Only `hawse_runtime.code.host`, which runs in a separate process, imports jupyter_client and pyzmq.
"""
