"""Previews: an HTTP and WebSocket proxy to exposed ports of a sandbox, each with a separate origin.

It does not know preview tokens in advance: the runtime accepts or refuses each one.
"""
