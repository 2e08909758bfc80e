"""Sandbox providers: sandboxes on this machine, in Docker containers, in Kubernetes pods and on users' machines.

Providers know nothing about clients and channels.
"""
