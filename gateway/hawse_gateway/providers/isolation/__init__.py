"""Isolation for local sandboxes, using bubblewrap, separate users and cgroups."""
