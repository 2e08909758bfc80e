"""The output log: bytes with absolute offsets, in memory and on disk, with backpressure and input offsets.

This package knows nothing about terminals or processes. A reader is just a cursor.
"""
