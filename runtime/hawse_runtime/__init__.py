"""What runs inside a sandbox and owns all that must survive a reconnect."""
