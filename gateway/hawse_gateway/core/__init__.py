"""Helpers for all of the gateway's packages. They do not depend on sandboxes, clients or methods."""
