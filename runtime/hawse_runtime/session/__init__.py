"""Persistent shells: `session.*`. Commands share directory, variables and functions, and run one after another.

Terminals are unknown here: a session has pipes, not a PTY.
"""
