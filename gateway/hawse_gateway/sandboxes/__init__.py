"""The sandboxes of a gateway: their rows in the store, and the only code that starts, stops and deletes them.

`records` defines the rows, and `steps` the state machine. `driver` performs the steps. Methods and links call
`lifecycle`. `supervisor` detects failures and starts due work.
"""
