"""The TCP ports where the sandbox's programs listen, previews and tunnels: the `port.*` methods.

This package does not know HTTP: a tunnel carries bytes.
"""
