"""Mounts: buckets and host directories available at paths in sandboxes, served by rclone outside the sandbox."""
