"""The kernel host: a process alongside user code that starts Jupyter kernels and speaks their protocol.

Only this package imports jupyter_client and pyzmq. From the rest of the runtime, it imports only
`hawse_runtime.code.host_protocol` and the message framing.
"""
