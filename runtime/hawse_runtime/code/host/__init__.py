"""The kernel host: a process beside user code that starts Jupyter kernels and implements their protocol.

Only this package imports jupyter_client and pyzmq. It imports nothing from the rest of the runtime except
`hawse_runtime.code.host_protocol` and the framing of its messages.
"""
