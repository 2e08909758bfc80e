"""Terminals: the PTY, its viewers, automation for agents and shell integration.

It knows no recorder: a recording subscribes to a terminal as a viewer does.
"""
