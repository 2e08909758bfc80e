"""Tunnels: permanent public addresses for ports in sandboxes."""
