"""TCP ports opened by the sandbox's programs, previews, and tunnels: the `port.*` methods.

This package knows nothing about HTTP: a tunnel just carries bytes.
"""
