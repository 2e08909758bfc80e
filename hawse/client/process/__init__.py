"""A sandbox's `exec`, processes and sessions."""
