"""The proxy that sandboxes with the network `filtered` use to reach selected hosts (docs/decisions/0210).

Each sandbox has a separate proxy process outside of it: `python -m hawse_gateway.egress.proxy_process`. The gateway
starts it with a plan on standard input (`plan`), and reads its refusals (`follower`). It can be restarted while the
sandbox runs.
"""
