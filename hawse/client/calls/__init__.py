"""Open calls: the call table, resuming, retry policies, buffers and iterators.

They don't depend on WebSockets; a connection pulls the messages they send.
"""
