"""Sandbox providers: they run sandboxes on this machine, in Docker, in Kubernetes, or on users' own machines.

Providers know nothing about clients or channels.
"""
