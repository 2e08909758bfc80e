"""uvicorn's protocols with additional time and size limits, and the listening socket.

This package handles bytes and messages, and does not depend on methods, roles or sandboxes.
"""
