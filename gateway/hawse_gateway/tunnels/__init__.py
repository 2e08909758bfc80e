"""Tunnels: durable public addresses of ports of sandboxes."""
