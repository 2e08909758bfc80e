"""`exec`, processes and sessions of a sandbox. They do not depend on the connection; calls carry their data."""
