"""The proxy of sandboxes with the network `filtered`, which gives them access to selected hosts (docs/decisions/0210).

Each sandbox has its own proxy process, which runs outside the sandbox: `python -m hawse_gateway.egress.proxy_process`.
The gateway starts it with a plan on standard input (`plan`) and reads its refusals (`follower`). The gateway can be
restarted while the sandbox and its proxy keep running.
"""
