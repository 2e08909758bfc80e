"""Helpers for all packages of the gateway, which know nothing about sandboxes, clients or methods."""
