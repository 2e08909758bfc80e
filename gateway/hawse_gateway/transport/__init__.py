"""uvicorn's protocols with additional time and size limits, and the listening socket.

This package handles bytes and messages, and knows nothing about methods, roles or sandboxes.
"""
