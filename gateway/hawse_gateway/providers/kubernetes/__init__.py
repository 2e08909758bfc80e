"""Sandboxes in Kubernetes pods.

The cluster schedules the pods and stores their files.
"""
