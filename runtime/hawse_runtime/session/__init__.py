"""Persistent shells: `session.*`. Commands that share directory, variables and functions run one after another.

It knows no terminals: a session has pipes, not a PTY.
"""
