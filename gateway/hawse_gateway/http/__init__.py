"""The HTTP API: methods, server-sent events, files, recordings and the OpenAPI document.

This package does not depend on WebSockets. It forwards each request on a channel of the sandbox's link.
"""
