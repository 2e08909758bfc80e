"""Sandboxes in containers of a Docker Engine.

Any Linux image can be used, because the runtime includes its own interpreter, libraries and dynamic linker.
"""
