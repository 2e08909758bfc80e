"""Helpers for all packages of the gateway. They know nothing about sandboxes, clients or methods."""
