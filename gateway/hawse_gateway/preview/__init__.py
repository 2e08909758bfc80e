"""Previews: an HTTP and WebSocket proxy to sandboxes' exposed ports, each with its own origin.

The gateway does not know preview tokens in advance. The runtime accepts or rejects each token.
"""
