"""Previews: an HTTP and WebSocket proxy to exposed ports of a sandbox, with origins of their own.

It knows no preview token in advance: the runtime accepts or refuses each one.
"""
