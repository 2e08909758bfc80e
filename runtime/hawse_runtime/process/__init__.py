"""Commands and processes with separate output streams: `exec`, `process.*`, and their logs, waits and kills.

This package knows nothing about PTYs or sessions.
"""
