"""Backups: archive stores, backup records, and the gateway's `backup.*` methods."""
