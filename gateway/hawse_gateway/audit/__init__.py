"""The audit log, which records each call's caller, action, object, address and outcome. Independent of connections."""
