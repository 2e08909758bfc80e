"""Sandboxes in pods of a Kubernetes cluster: the manifests, the cluster's reports, the provider.

The cluster decides where a pod runs and stores its files. Nothing here schedules anything.
"""
