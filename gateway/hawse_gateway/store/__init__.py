"""What must survive the gateway: rows with versions, leases with epochs, and notifications of changes."""
