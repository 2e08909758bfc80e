"""The Python client, async and sync."""
