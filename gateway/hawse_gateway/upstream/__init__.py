"""Links to runtimes: connections, waiting calls and bounded input queues.

This package does not depend on clients. Its callers are represented by objects that receive results and frames.
"""
