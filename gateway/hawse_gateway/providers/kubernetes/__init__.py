"""Sandboxes in pods of a Kubernetes cluster.

The cluster schedules the pods and stores their files.
"""
