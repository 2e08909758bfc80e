"""WebSocket clients: the connection, a bridge for each channel, flow control and output queues.

The package never decodes the parameters and results that it forwards.
"""
