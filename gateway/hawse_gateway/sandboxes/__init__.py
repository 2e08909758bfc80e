"""A gateway's sandboxes: their rows in the store, and the only code that starts, stops and deletes them.

`records` defines the rows, `steps` defines the state machine, and `driver` performs the steps. Methods and links call
`lifecycle`. `supervisor` detects failures and triggers the steps that are due.
"""
