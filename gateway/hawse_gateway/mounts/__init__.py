"""Mounts: make buckets and host directories available at paths in sandboxes. They are served by rclone outside the
sandbox."""
