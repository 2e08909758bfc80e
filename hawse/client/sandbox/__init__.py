"""Sandboxes: their lifecycle, and the handle for a sandbox."""
