"""Backups: packs a directory exactly and restores it. Archives are stored by the gateway."""
