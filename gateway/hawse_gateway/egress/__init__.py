"""The proxy through which sandboxes with the network `filtered` reach chosen hosts (docs/decisions/0210).

Each sandbox has its own proxy process, outside of it: `python -m hawse_gateway.egress`. The gateway starts it with a
plan on its standard input (`plan`) and reads what it has refused (`follower`). It can be restarted while the sandbox
runs.
"""
