"""Links to runtimes: connections, waiting calls and bounded input queues.

This package knows nothing about clients. Its callers are represented by objects that receive results and frames.
"""
