"""Mounts: buckets and host directories at paths in sandboxes, served by rclone outside the sandbox."""
