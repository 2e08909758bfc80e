"""The gateway's persistent state: versioned rows, leases with epochs, and change notifications."""
