"""Operating-system processes and descriptors: start, exit and process trees; non-blocking reads and writes.

This package knows nothing about calls, terminals or journals.
"""
