"""`exec`, processes and sessions of a sandbox. They know no connection; calls carry them."""
