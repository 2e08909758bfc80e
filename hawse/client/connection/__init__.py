"""The client's WebSocket connection: dialling, the handshake, pings and reconnecting.

This package knows nothing about methods; it carries messages for the call table.
"""
