"""The proxy that gives sandboxes with a `filtered` network access to selected hosts (docs/decisions/0210).

Each sandbox has its own proxy process outside the sandbox: `python -m hawse_gateway.egress.proxy_process`. The gateway
starts the proxy with a plan on standard input (`plan`) and reads its refusals (`follower`). The sandbox and its proxy
keep running if the gateway is restarted.
"""
