"""The proxy process: `python -m hawse_gateway.egress.proxy_process`. Modules outside this folder must not import from
it.
"""
