"""One WebSocket after another: dialling, the handshake, pings and reconnecting.

It does not know methods; it carries messages for the table of calls.
"""
