"""Sandboxes in Docker Engine containers.

Any Linux image can be used, because the runtime includes its own interpreter, libraries and dynamic linker.
"""
