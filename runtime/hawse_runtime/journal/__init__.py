"""Output as a log of bytes with absolute offsets: the ring in memory, spill to disk, backpressure, input offsets.

It knows readers only as cursors, and nothing about terminals or processes.
"""
