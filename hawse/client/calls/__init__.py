"""Open calls: the table, resuming, retry policies, buffers and iterators.

They know no WebSocket: a connection takes what they send.
"""
