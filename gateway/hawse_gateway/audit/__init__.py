"""The audit log: which caller did what, on what, from where, with which outcome. It knows no connection."""
