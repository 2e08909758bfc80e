"""Tunnels: durable public addresses for ports in sandboxes."""
