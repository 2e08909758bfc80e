"""Previews: an HTTP and WebSocket proxy to exposed ports of a sandbox, each with a separate origin.

The gateway does not know preview tokens in advance. The runtime accepts or refuses each token.
"""
