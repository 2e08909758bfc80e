"""The audit log: which caller did what to which object, from where, and the outcome. Independent of connections."""
