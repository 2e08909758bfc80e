"""Emulates terminal screens in a separate process. Provides snapshots, text formats and key encoding. Reads output only
when necessary.

This package knows nothing about viewers, calls or PTYs.
"""
