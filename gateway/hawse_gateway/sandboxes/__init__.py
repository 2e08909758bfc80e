"""The sandboxes of a gateway: their durable rows, and the only code that starts, stops and deletes them.

`records` defines the rows, `steps` the state machine. `driver` performs its steps, methods and links call `lifecycle`,
and `supervisor` finds failures and work that is due.
"""
