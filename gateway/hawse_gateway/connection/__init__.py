"""WebSocket clients: one connection, a bridge for each of its channels, credit and output queues.

It never decodes the parameters and results it forwards.
"""
