"""Terminals: the PTY, its viewers, automation for agents and shell integration.

Recorders are unknown here: a recording subscribes to a terminal like a viewer.
"""
