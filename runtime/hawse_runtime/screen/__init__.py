"""The screen of a terminal, kept in a separate process: emulator, snapshots, text formats, keys, deferred output.

This package does not know viewers, calls or PTYs.
"""
