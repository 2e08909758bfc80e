"""Sandboxes: their lifecycle, and the handle of a sandbox."""
