"""Sandboxes in containers of a Docker Engine: the settings of containers, the engine and its images, the provider.

Any Linux image works: the runtime brings its own interpreter, libraries and dynamic linker.
"""
