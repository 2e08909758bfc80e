"""The audit log, which records the caller, action, object, address and outcome of each call. This package does not
depend on client connections."""
