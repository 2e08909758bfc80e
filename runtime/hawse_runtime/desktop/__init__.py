"""Desktops: an X server with a window manager, its viewers, and input and screenshots for agents: `desktop.*`.

The X server is part of the sandbox's user code, so its messages are checked like any untrusted input.
"""
