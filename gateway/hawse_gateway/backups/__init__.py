"""Backups at the gateway: where archives are stored, what is known about them, and the `backup.*` methods."""
