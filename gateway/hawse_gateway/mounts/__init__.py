"""Mounts: buckets and directories of the host at paths in sandboxes, served by rclone outside of them."""
