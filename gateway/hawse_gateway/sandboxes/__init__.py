"""The sandboxes of a gateway: their durable rows, and the only code that starts, stops and deletes them.

`records` are the rows, `steps` the state machine, `driver` performs its steps, `lifecycle` is what the methods and the
links call, `supervisor` finds what has gone wrong or is due.
"""
