"""Processes and descriptors of the operating system: spawning, exit, process trees, non-blocking reads and writes.

Calls, terminals and journals are unknown here.
"""
