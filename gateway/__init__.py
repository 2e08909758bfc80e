"""What stands in front of the sandboxes: it authenticates, authorizes and forwards."""
