"""Commands and processes with separate output streams: `exec`, `process.*`, their logs, waits and kills.

This package knows neither PTYs nor sessions.
"""
