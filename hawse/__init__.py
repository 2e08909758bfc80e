"""hawse: one WebSocket for everything that is done with a sandbox."""
