"""Links to the runtimes: connecting, waiting callers and bounded input queues.

It knows nothing about clients: its callers are objects that take results and frames.
"""
