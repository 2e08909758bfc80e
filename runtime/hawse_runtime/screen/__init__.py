"""The screen beside a terminal's journal: a process with its emulator, snapshots, text formats, keys, deferred output.

It knows no viewers, calls or PTYs.
"""
