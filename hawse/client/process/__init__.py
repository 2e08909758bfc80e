"""A sandbox's `exec`, processes and sessions. They don't depend on the connection; calls carry their data."""
