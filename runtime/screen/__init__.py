"""The emulator beside a terminal's journal: snapshots, text formats, key encoding and deferred feeding.

It knows no viewers, calls or PTYs.
"""
