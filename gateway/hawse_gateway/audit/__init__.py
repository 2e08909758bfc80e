"""The audit log: records the caller, action, object, address and outcome of calls. Independent of connections."""
