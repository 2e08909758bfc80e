"""Tunnels: persistent public addresses for ports in sandboxes."""
