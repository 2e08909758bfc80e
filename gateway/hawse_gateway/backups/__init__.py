"""Backups: the stores for archives, the rows that describe backups, and the gateway's `backup.*` methods."""
