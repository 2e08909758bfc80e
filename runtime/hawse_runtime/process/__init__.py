"""Commands and processes with separate streams: `exec`, `process.*`, their logs, waits and kills.

PTYs and sessions are unknown here.
"""
