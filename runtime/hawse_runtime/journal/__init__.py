"""Output as a log of bytes with absolute offsets: the ring in memory, spill to disk, backpressure, input offsets.

Readers are only cursors here; terminals and processes are unknown.
"""
