"""Terminal screens, emulated in a separate process: snapshots, text formats, keys, deferred output.

This package knows nothing about viewers, calls or PTYs.
"""
