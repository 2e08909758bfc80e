"""The HTTP API: methods, server-sent events, files, recordings and the OpenAPI document.

The package knows nothing about WebSockets: it forwards each request as a channel of the sandbox's link.
"""
