"""The proxy through which sandboxes with the network `filtered` reach chosen hosts (docs/decisions/0210).

It is a process of its own for each sandbox, outside of it: `python -m gateway.egress`. The gateway starts it with a
plan on its standard input (`plan`) and reads what it has refused (`follower`). It may be restarted meanwhile.
"""
