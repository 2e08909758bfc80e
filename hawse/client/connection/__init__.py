"""One WebSocket after another: dialling, the handshake, pings and reconnecting.

It knows no method: it carries messages for the table of calls.
"""
