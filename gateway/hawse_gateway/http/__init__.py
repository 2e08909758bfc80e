"""The HTTP API: methods, server-sent events, files, recordings and the OpenAPI document.

It knows nothing about WebSockets: a request is a channel on the sandbox's link like any other.
"""
