"""Sandboxes in containers of a Docker Engine: container settings, the engine and its images, the provider.

Any Linux image works: the runtime includes its own interpreter, libraries and dynamic linker.
"""
