"""Backups: pack a directory exactly, and restore it. Storing archives is the gateway's task."""
