"""Desktops: an X server with a window manager, its viewers, and what drives it for agents: `desktop.*`.

The X server belongs to the sandbox's user code, so what it sends is checked like any other input from outside.
"""
