"""Helpers for all of the gateway's packages. They know nothing about sandboxes, clients or methods."""
