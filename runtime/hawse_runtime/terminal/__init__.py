"""Terminals: the PTY, its viewers, automation for agents and shell integration.

This package knows nothing about recorders: a recording subscribes to a terminal just as a viewer does.
"""
