"""The kernel host: a process that runs beside user code, starts Jupyter kernels and speaks their protocol.

Only this package imports jupyter_client and pyzmq. It knows nothing of the rest of the runtime but
`hawse_runtime.code.host_protocol`.
"""
