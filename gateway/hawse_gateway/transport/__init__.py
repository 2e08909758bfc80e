"""uvicorn's protocols with additional limits on time and size, and the listening socket.

The package handles bytes and messages, and knows nothing about methods, roles or sandboxes.
"""
