"""Recordings of terminals as asciicast v3, with snapshots for seeking.

Viewers are unknown here; a recording never affects a terminal's output.
"""
