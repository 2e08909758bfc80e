"""Desktops: the `desktop.*` methods. A desktop is an X server with a window manager, viewers, and input from agents.

The X server counts as user code, so its messages are checked like any untrusted input.
"""
