"""Emulates terminal screens in a separate process. Provides snapshots, text formats and key encoding, and defers
output.

This package knows nothing about viewers, calls or PTYs.
"""
