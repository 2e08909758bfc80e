"""Sandbox providers, which run sandboxes on this machine, in Docker, in Kubernetes, or on users' own machines.

Providers do not depend on clients or channels.
"""
