"""The HTTP API: methods, server-sent events, files, recordings and the OpenAPI document.

This package knows nothing about WebSockets: it forwards each request on a channel of the sandbox's link.
"""
