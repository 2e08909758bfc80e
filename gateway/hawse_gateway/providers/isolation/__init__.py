"""What a local sandbox is isolated with beside bubblewrap: a user of its own, cgroups, and the check of all of it."""
