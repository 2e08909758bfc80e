"""An overview of all sandboxes, kept in memory and up to date with all gateways' changes."""
