"""uvicorn's protocols with the gateway's limits on time and size, and the listening socket.

It knows bytes and messages, but no method, role or sandbox.
"""
