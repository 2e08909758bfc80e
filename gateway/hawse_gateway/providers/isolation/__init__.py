"""Isolation of local sandboxes besides bubblewrap: separate users, cgroups, and the check that all of it works."""
