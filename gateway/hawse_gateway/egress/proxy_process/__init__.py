"""The proxy process: `python -m hawse_gateway.egress.proxy_process`. No module outside this folder imports from it."""
