"""Sandboxes: their life, and the handle of one."""
