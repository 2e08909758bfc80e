"""Processes and descriptors of the operating system: start, exit and process trees; non-blocking reads and writes.

This package knows neither calls nor terminals nor journals.
"""
