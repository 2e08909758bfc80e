"""The persistent state of the gateway: versioned rows, leases with epochs, and change notifications."""
