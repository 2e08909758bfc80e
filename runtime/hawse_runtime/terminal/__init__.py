"""Terminals: the PTY, its viewers, automation for agents and shell integration.

This package does not know recorders: a recording subscribes to a terminal like a viewer.
"""
