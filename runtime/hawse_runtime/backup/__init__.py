"""Backups: packs a directory with all its attributes, and restores it. Archives are stored by the gateway."""
