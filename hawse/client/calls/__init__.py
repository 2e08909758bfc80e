"""Open calls: the table, resuming, retry policies, buffers and iterators.

They do not depend on WebSockets; a connection pulls the messages that they send.
"""
