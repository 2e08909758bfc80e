"""Mounts, which make buckets and host directories available at paths in sandboxes. rclone serves them outside the
sandbox."""
