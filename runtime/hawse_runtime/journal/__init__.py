"""The output log: bytes with absolute offsets, in memory and on disk, with backpressure and input offsets.

This package knows neither terminals nor processes. A reader is only a cursor.
"""
