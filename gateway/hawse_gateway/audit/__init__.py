"""The audit log. It records the caller, action, object, address and outcome of each call, and does not depend on
connections."""
