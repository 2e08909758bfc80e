"""Links to the runtimes: connections, waiting calls and bounded input queues.

The package knows nothing about clients. Its callers are objects that receive results and frames.
"""
