"""Sandboxes in pods of a Kubernetes cluster: the manifests, what the cluster reports, the provider.

The cluster decides where a pod runs and keeps its files. Nothing here schedules anything.
"""
