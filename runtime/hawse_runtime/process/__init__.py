"""Commands and processes with separate streams: `exec`, `process.*`, their logs, waits and kills.

It knows no PTY and no session.
"""
