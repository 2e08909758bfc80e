"""Persistent shells: the `session.*` methods. Commands share directory, variables and functions, and run in sequence.

This package does not know terminals: a session has pipes, not a PTY.
"""
