"""Sandboxes in containers of a Docker Engine: the bundle of the runtime, the settings of containers, the provider.

Any Linux image works: the runtime brings its own interpreter, libraries and dynamic linker.
"""
