"""Backups: stores for archives, backup records, and the gateway's `backup.*` methods."""
