"""Backups at the gateway: archive stores, backup records, and the `backup.*` methods."""
