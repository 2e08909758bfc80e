"""Persistent shells: the `session.*` methods. Commands run one at a time and share directory, variables and functions.

This package knows nothing about terminals: a session has pipes, not a PTY.
"""
