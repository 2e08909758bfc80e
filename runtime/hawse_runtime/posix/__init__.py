"""Processes and descriptors of the operating system: spawning, exit, process trees, non-blocking reads and writes.

This package knows nothing of calls, terminals or journals.
"""
