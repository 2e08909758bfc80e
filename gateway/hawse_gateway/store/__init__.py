"""Persistent state of the gateway: rows with versions, leases with epochs, and change notifications."""
