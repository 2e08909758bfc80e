"""Helpers of all packages of the gateway. They know nothing of sandboxes, clients or methods."""
