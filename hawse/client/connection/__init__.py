"""One WebSocket after another: dialling, the handshake, pings and reconnecting.

It knows no methods: it carries messages for the table of calls.
"""
