"""uvicorn's protocols with the gateway's limits on time and size, and the listening socket.

It handles bytes and messages, and knows nothing about methods, roles or sandboxes.
"""
