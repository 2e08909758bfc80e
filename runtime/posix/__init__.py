"""Processes and descriptors of the operating system: spawning, exit, process trees, non-blocking reads and writes.

They know no calls, terminals or journals.
"""
