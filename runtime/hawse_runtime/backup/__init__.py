"""Backups: pack a directory exactly, and make a directory what it was. It knows no store: the gateway has that."""
