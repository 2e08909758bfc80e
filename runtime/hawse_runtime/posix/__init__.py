"""Starts processes, detects their exit, and ends process trees. Reads and writes descriptors without blocking.

This package knows nothing about calls, terminals or journals.
"""
