"""Links to the runtimes: connecting, waiting callers and bounded input queues.

It knows no client; its callers are anything that can take results and frames.
"""
